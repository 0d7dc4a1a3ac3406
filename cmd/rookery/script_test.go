package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"rookery/infer/native"
	"rookery/infer/native/nativetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rookery": main})
}

// TestScripts runs the command line as a shell does. Scripts that need a GPU use a
// library that needs none, $FAKE_GPU, where it can be built: the condition [fakegpu].
func TestScripts(t *testing.T) {
	fake := ""
	if _, err := exec.LookPath("gcc"); err == nil && native.Supported {
		fake = filepath.Join(t.TempDir(), native.FileName)
		nativetest.Build(t, fake)
	}
	served := httptest.NewServer(http.FileServer(http.Dir("../../infer")))
	t.Cleanup(served.Close) // scripts run side by side, until the test ends
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"adapter": unpackAdapter, "cut": cutFile, "same-answers": sameAnswers,
		},
		Condition: func(name string) (bool, error) {
			if name != "fakegpu" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return fake != "", nil
		},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
			env.Setenv("NO_COLOR", "1")
			env.Setenv(native.EnvPath, "")
			env.Setenv("FAKE_GPU", fake)
			env.Setenv("SERVED", served.URL) // the folder infer
			return os.MkdirAll(home, 0o700)
		},
	})
}

// unpackAdapter writes an adapter of the embedded model to a file, as its trainer wrote
// it: "adapter pirate FILE".
func unpackAdapter(ts *testscript.TestScript, _ bool, args []string) {
	packed, err := os.Open(filepath.Join("../../infer/demo/adapters", args[0]+".pth.gz"))
	ts.Check(err)
	z, err := gzip.NewReader(packed)
	ts.Check(err)
	data, err := io.ReadAll(z)
	ts.Check(errors.Join(err, packed.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}
