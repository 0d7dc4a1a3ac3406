//go:build linux && (amd64 || arm64) && !nogpu

package gauge

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake builds testdata/fake.c with macros, and is a library in its place.
func fake(t *testing.T, of library, macros ...string) library {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc to build the fake library with")
	}
	path := filepath.Join(t.TempDir(), "fake.so")
	args := append([]string{"-O1", "-fPIC", "-shared", "-o", path, "testdata/fake.c"}, macros...)
	if out, err := exec.CommandContext(t.Context(), compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	of.names = []string{"libnot-there.so.1", path}
	return of
}

// readings are those of libraries, as Open finds them.
func readings(t *testing.T, of ...library) []Reading {
	t.Helper()
	defer func(before []library) { libraries = before }(libraries)
	libraries = of
	g, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	list, err := g.Read()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var absent = library{names: []string{"libnot-there.so.1"}}

func TestReadings(t *testing.T) {
	for _, c := range []struct {
		name string
		from library
		want []Reading
	}{
		{"NVIDIA", fake(t, nvml), []Reading{
			{Name: "Fake A100", Load: 0.40, MemoryUsed: 3 << 30, MemoryTotal: 80 << 30, Power: 250.5, PowerLimit: 700, Temperature: 51},
			{Name: "Fake H100", Load: 0.41, MemoryUsed: 4 << 30, MemoryTotal: 80 << 30, PowerLimit: 700, Temperature: 52},
		}},
		{"NVIDIA, an old one", fake(t, nvml, "-DBARE"), make([]Reading, 2)},
		{"AMD", fake(t, rocm, "-DROCM", "-DDEVICES=1"), []Reading{
			{Name: "Fake MI300X", Load: 0.90, MemoryUsed: 10 << 30, MemoryTotal: 192 << 30, Power: 500.25, PowerLimit: 750, Temperature: 65},
		}},
		{"AMD, an old one", fake(t, rocm, "-DROCM", "-DBARE"), make([]Reading, 2)},
		{"no GPU", fake(t, nvml, "-DDEVICES=0"), []Reading{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, readings(t, absent, c.from)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	open := func(of ...library) error {
		defer func(before []library) { libraries = before }(libraries)
		libraries = of
		_, err := Open()
		return err
	}
	if err := open(absent); !errors.Is(err, ErrAbsent) {
		t.Errorf("no library is %v", err)
	}
	if err := open(fake(t, nvml, "-DBROKEN"), absent); err == nil || !strings.Contains(err.Error(), "starting: Driver Not Loaded") {
		t.Errorf("no driver is %v", err)
	}
	if err := open(fake(t, rocm, "-DROCM", "-DBROKEN")); err == nil || !strings.Contains(err.Error(), "starting: error 9") {
		t.Errorf("no driver is %v", err)
	}
	if err := open(fake(t, nvml, "-DROCM")); err == nil || !strings.Contains(err.Error(), "it has no function nvml") {
		t.Errorf("another library is %v", err)
	}
	if err := open(fake(t, nvml, "-DBROKEN"), fake(t, rocm, "-DROCM")); err != nil {
		t.Errorf("one maker's library that does not start keeps the other's from being used: %v", err)
	}
	m, err := fake(t, nvml, "-DDEVICES=3").open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Gauge{meter: m}).Read(); err == nil || !strings.Contains(err.Error(), "GPU 2: finding it: Invalid Argument") {
		t.Errorf("a GPU that is not there is %v", err)
	}
}

// TestGPU reads the GPUs of this machine, if it has any.
func TestGPU(t *testing.T) {
	g, err := Open()
	if err != nil {
		t.Skip("skipped: ", err)
	}
	list, err := g.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range list {
		t.Logf("%+v", r)
		if r.Name == "" || r.MemoryTotal <= 0 || r.MemoryUsed > r.MemoryTotal || r.Temperature <= 0 || r.Temperature > 150 {
			t.Errorf("GPU %d is %+v", i, r)
		}
	}
}
