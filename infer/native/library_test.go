//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	good := buildFake(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	if err := os.WriteFile(text, []byte("this is no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       []string // nil: it opens
	}{
		{"a file", good, nil},
		{"its directory", filepath.Dir(good), nil},
		{"an empty directory", dir, []string{filepath.Join(dir, FileName), EnvPath, "not there"}},
		{"no file", filepath.Join(dir, "none.so"), []string{"none.so", "not there"}},
		{"no library", text, []string{text, "cannot be opened"}},
		{"another version", buildFake(t, "-DFAKE_ABI=6"), []string{"version 6", "needs 7", "make cuda"}},
		{"a missing function", buildFake(t, "-DFAKE_WITHOUT_STEP"), []string{"rk_step", "make cuda"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(EnvPath, c.path)
			l, err := Open()
			if c.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				if l.ABI() != abiVersion || l.Path() != good {
					t.Errorf("version %d of %s", l.ABI(), l.Path())
				}
				return
			}
			wantError(t, err, c.want...)
			if errors.Is(err, ErrAbsent) {
				t.Error("somebody named this library, and it counts as absent")
			}
		})
	}
}

// Without ROOKERY_LIB the library is beside the program, and the directory
// that the program is run in does not matter.
func TestOpenBesideTheProgram(t *testing.T) {
	t.Setenv(EnvPath, "")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(program), FileName)
	data, err := os.ReadFile(buildFake(t))
	if err != nil {
		t.Fatal(err)
	}
	here := t.TempDir()
	for _, dir := range []string{here, filepath.Join(here, buildDir)} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, FileName), data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	_, err = Open()
	wantError(t, err, FileName, filepath.Dir(program), EnvPath)
	if !errors.Is(err, ErrAbsent) {
		t.Errorf("%v is not ErrAbsent", err)
	}
	if err := os.WriteFile(beside, data, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(beside); err != nil {
			t.Error(err)
		}
	})
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if l.Path() != beside {
		t.Errorf("opened %s, want %s", l.Path(), beside)
	}
}

func TestDevices(t *testing.T) {
	l := openFake(t)
	fault(t, "FAKE_DEVICES", "2")
	fault(t, "FAKE_MEMORY", "1000000")
	devices, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	want := Device{Index: 1, Name: "Fake G1", TotalMemory: 1000000, FreeMemory: 500000, Cache: 1 << 20, Multiprocessors: 7, Major: 9, Driver: 13010}
	if len(devices) != 2 || devices[1] != want {
		t.Errorf("devices %+v, want the second to be %+v", devices, want)
	}
	if v := devices[1].DriverVersion(); v != "13.1" {
		t.Errorf("driver for CUDA %s, want 13.1", v)
	}
}

func TestNoDevice(t *testing.T) {
	l := openFake(t)
	t.Run("none", func(t *testing.T) {
		fault(t, "FAKE_DEVICES", "0")
		_, err := l.Devices()
		wantError(t, err, l.Path(), "no usable GPU")
	})
	for _, why := range []string{
		"there is no NVIDIA driver",
		"the driver (CUDA 11.4) is too old\nCUDA 12.4 is needed",
		strings.Repeat("long ", 100),
	} {
		t.Run(why[:8], func(t *testing.T) {
			fault(t, "FAKE_DRIVER", why)
			_, err := l.Devices()
			wantError(t, err, l.Path(), strings.Join(strings.Fields(why), " "))
		})
	}
}
