package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rookery/infer/sampler"
)

var tried = sampler.Params{Mode: sampler.ModeRapid, Temperature: 0.85, TopK: 40, TopP: 1, Presence: -0.5, Frequency: 0.25, Decay: 0.996, Seed: 9, Ban: []int32{3}}

func loadFrom(t *testing.T, path string) Config {
	t.Helper()
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Saving keeps every byte that a person wrote, and reading finds what was saved.
func TestSaveSampling(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "config.toml")
	if err := SaveSampling(path, tried); err != nil {
		t.Fatal(err)
	}
	p, err := loadFrom(t, path).Sampling.Over(sampler.Params{Seed: 1})
	if err != nil || p.Mode != tried.Mode || p.Temperature != tried.Temperature || p.TopK != 40 || p.TopP != 1 || p.Presence != -0.5 || p.Seed != 1 || p.Ban != nil {
		t.Fatalf("read again %+v, %v", p, err)
	}

	written := "# mine\n[ui]\nbell = true # loud\n\n[ sampling ] # how\n  temperature= 2.0 # hot\nseed = 4\n# decay = 0.1\n\n[keys]\nquit = [\n  \"ctrl+q\",\n]\n"
	if err := os.WriteFile(path, []byte(written), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := SaveSampling(path, tried); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# mine\n[ui]\nbell = true # loud\n\n[ sampling ] # how\n", "\ntemperature = 0.85\nseed = 4\n# decay = 0.1\n\n[keys]\nquit = [\n  \"ctrl+q\",\n]\n", "\ndecay = 0.996\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%q is not in:\n%s", want, data)
		}
	}
	if c := loadFrom(t, path); fmt.Sprintf("%s", c.Sampling["seed"]) != "4" || !c.UI.Bell {
		t.Errorf("the rest was changed: %+v", c)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's permissions are %v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(names) > 0 {
		t.Errorf("left behind: %q", names)
	}
}

func TestSavePreset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	for _, name := range []string{"mine", "für Märchen", `a "quoted" one`} {
		if err := SavePreset(path, name, tried); err != nil {
			t.Fatal(err)
		}
	}
	again := tried
	again.Temperature = 0.1
	if err := SavePreset(path, "für Märchen", again); err != nil {
		t.Fatal(err)
	}
	c := loadFrom(t, path)
	if len(c.Presets) != 3 || fmt.Sprintf("%s", c.Presets["mine"]["temperature"]) != "0.85" || fmt.Sprintf("%s", c.Presets["für Märchen"]["temperature"]) != "0.1" {
		t.Errorf("read again %+v", c.Presets)
	}
	if len(c.Sampling) > 0 {
		t.Error("saving a preset changes the default")
	}
}

// A file whose lines cannot be edited safely does not change.
func TestSaveLeavesWhatItCannotEdit(t *testing.T) {
	for _, written := range []string{
		"sampling.temperature = 1.0\n",
		"sampling = { temperature = 1.0 }\n",
		"[chat]\nsystem = \"\"\"\n[sampling]\n\"\"\"\n[sampling]\ntop_k = 3\n",
		"[sampling\n",
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := SaveSampling(path, tried); err == nil {
			t.Errorf("%q was edited", written)
		}
		if data, _ := os.ReadFile(path); string(data) != written {
			t.Errorf("%q became %q", written, data)
		}
	}
	if err := SaveSampling(filepath.Join(t.TempDir(), "x"), sampler.Params{Temperature: -1}); err == nil {
		t.Error("parameters that are wrong were saved")
	}
}
