// Package nativetest builds the library of infer/native/testdata/fake.c, which
// has the interface of the GPU's and needs none, for the tests of several
// packages.
package nativetest

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Build compiles the library to a file, with macros. Where that cannot be done
// the test is skipped.
func Build(t testing.TB, path string, macros ...string) {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc to build the fake library with")
	}
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the sources of the fake library are not known")
	}
	sources := filepath.Dir(filepath.Dir(here))
	// Sums and products must be rounded one by one, as Go and the kernels do.
	args := []string{"-O1", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-I", filepath.Join(sources, "../../cuda"), "-o", path}
	args = append(append(args, macros...), filepath.Join(sources, "testdata/fake.c"), "-lm")
	if out, err := exec.CommandContext(t.Context(), compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
