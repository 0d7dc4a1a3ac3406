// Package nativetest builds the library of infer/native/testdata/fake.c, which
// has the interface of the GPU's and needs none, for the tests of several
// packages.
package nativetest

import (
	"os"
	"os/exec"
	"path/filepath"
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
	root := module(t)
	// Sums and products must be rounded one by one, as Go and the kernels do.
	args := []string{"-O1", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-I", filepath.Join(root, "cuda"), "-o", path}
	args = append(append(args, macros...), filepath.Join(root, "infer/native/testdata/fake.c"), "-lm")
	if out, err := exec.CommandContext(t.Context(), compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// module is the root of the sources: tests run in their package's folder.
func module(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("the sources of the fake library are not above the working directory")
		}
		dir = parent
	}
}
