package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestAssemblyIsCurrent runs the generator and compares. It needs avo in the
// module cache and says so if it is not there.
func TestAssemblyIsCurrent(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("skipped: only where the assembly is used, and not with -short")
	}
	env := append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	generator := filepath.Join(t.TempDir(), "gen")
	build := exec.CommandContext(t.Context(), "go", "-C", "gen", "build", "-o", generator, ".")
	build.Env = env
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("skipped: the generator cannot be built here: %s", out)
	}
	for _, family := range []string{"float", "q8", "vector", "recurrence", "memory", "skip"} {
		assembly, stubs := filepath.Join(t.TempDir(), "a.s"), filepath.Join(t.TempDir(), "a.go")
		run := exec.CommandContext(t.Context(), generator, "-family", family, "-out", assembly, "-stubs", stubs, "-pkg", "kernel")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("generate %s: %v\n%s", family, err, out)
		}
		for committed, made := range map[string]string{family + "_amd64.s": assembly, family + "_amd64.go": stubs} {
			if !bytes.Equal(body(t, committed), body(t, made)) {
				t.Errorf("%s is not what the generator makes: run go generate", committed)
			}
		}
	}
}

// body is a file without its first line, which has the command.
func body(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	return rest
}
