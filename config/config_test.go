package config

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"rookery/infer/sampler"
)

func example(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExampleIsTheDefault(t *testing.T) {
	got, err := Parse("config.example.toml", []byte(example(t)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got); diff != "" {
		t.Errorf("the example does not hold the defaults (-default +example):\n%s", diff)
	}
}

func TestExampleDocumentsEveryKey(t *testing.T) {
	text := example(t)
	for _, section := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		name := section.Tag.Get("toml")
		if !strings.Contains(text, "\n["+name+"]\n") {
			t.Errorf("no section [%s]", name)
		}
		if section.Type.Kind() != reflect.Struct {
			continue
		}
		_, body, _ := strings.Cut(text, "\n["+name+"]\n")
		body, _, _ = strings.Cut(body, "\n[")
		for _, f := range reflect.VisibleFields(section.Type) {
			key := f.Tag.Get("toml")
			if !strings.Contains(body, "\n"+key+" = ") && !strings.Contains(body, "\n# "+key+" = ") {
				t.Errorf("[%s] does not document %s", name, key)
			}
		}
	}
}

var update = flag.Bool("update", false, "write the sampling parameters into config.example.toml")

// The example shows every sampling parameter as the table describes it.
func TestExampleFollowsTheSamplingTable(t *testing.T) {
	var b strings.Builder
	comment := func(text string) {
		for line := range strings.SplitSeq(ansi.Wrap(text, 78, ""), "\n") {
			b.WriteString("# " + line + "\n")
		}
	}
	for _, f := range sampler.Fields {
		comment(f.About)
		for _, c := range f.Choices {
			comment(fmt.Sprintf("%q: %s", c.Name, c.About))
		}
		b.WriteString("# " + f.TOML(sampler.Neutral()) + "\n")
	}
	const heading, next = "\n[sampling]\n", "\n# Presets of your own"
	before, rest, _ := strings.Cut(example(t), heading)
	got, after, ok := strings.Cut(rest, next)
	if !ok {
		t.Fatal("the example has no section [sampling] above the presets")
	}
	switch {
	case got == b.String():
	case *update:
		text := before + heading + b.String() + next + after
		if err := os.WriteFile("../config.example.toml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("run go test ./config -update; (-example +table):\n%s", cmp.Diff(got, b.String()))
	}
}

// TestExampleUncommented checks that the keys shown as comments are real ones.
func TestExampleUncommented(t *testing.T) {
	lines := strings.Split(example(t), "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, "# "); ok {
			if key, _, ok := strings.Cut(rest, " = "); ok && !strings.Contains(key, " ") {
				lines[i] = rest
			}
		}
	}
	text := strings.Join(lines, "\n")
	if _, err := Parse("uncommented", []byte(text)); err != nil {
		t.Error(err)
	}
	var c Config
	meta, err := toml.Decode(text, &c)
	if err != nil {
		t.Fatal(err)
	}
	if !meta.IsDefined("sampling", "temperature") || !meta.IsDefined("chat", "stops") {
		t.Error("the commented keys were not uncommented")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[ui]\ntheme = \"ansi\"\ncolour = 1\n", `c.toml:3: unknown key "ui.colour"`},
		{"\n[uii]\ntheme = 1\n", `c.toml:2: unknown key "uii`},
		{"top = 1\n", `c.toml:1: unknown key "top"`},
		{"[ui]\n\"the me\" = 1\n", `c.toml:2: unknown key "ui.`},
		{"[ui\n", "c.toml:2: expected"},
		{"[ui]\nmouse = \"yes\"\n", "c.toml"},
		{"[engine]\nbackend = \"tpu\"\n", `engine.backend is "tpu"; it must be one of`},
		{"[engine]\nthreads = -1\n", "engine.threads is -1"},
		{"[engine]\nstate = \"int8\"\n", `engine.state is "int8"`},
		{"[sampling]\ntemperature = -1.0\n", "temperature"},
		{"[sampling]\nmode = \"x\"\n", "c.toml:2: sampling.mode"},
		{"[sampling]\nseed = 1\ntop_q = 1\n", `c.toml:3: unknown key "sampling.top_q"`},
		{"[presets]\nmine.top_q = 1\n", `c.toml:2: unknown key "presets.mine.top_q"`},
		{"[presets.mine]\ntop_p = \"0.5\"\n", "c.toml:2: presets.mine.top_p: 0.5 is not a number"},
		{"[sampling]\ntop_k = 1.5\n", "c.toml:2: sampling.top_k: 1.5 is not a whole number"},
		{"[storage]\ndata_dir = \"\"\n", "storage.data_dir is empty"},
	} {
		_, err := Parse("c.toml", []byte(c.text))
		if err == nil {
			t.Errorf("%q was accepted", c.text)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %q, want one line with %q", c.text, err, c.want)
		}
	}
}

func TestSamplingOver(t *testing.T) {
	c, err := Parse("c", []byte("[sampling]\ntemperature = 0.5\nseed = 7\nban = [3]\n"))
	if err != nil {
		t.Fatal(err)
	}
	base := sampler.Params{Temperature: 1, TopP: 0.3, Presence: 0.5, Decay: 0.99}
	got, err := c.Sampling.Over(base)
	if err != nil {
		t.Fatal(err)
	}
	want := base
	want.Temperature, want.Seed, want.Ban = 0.5, 7, []int32{3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHome(t *testing.T) {
	c, err := Parse("c", []byte("[storage]\ndata_dir = \"~/x\"\n[model]\npath = \"a~b\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(c.Storage.DataDir, "~") || !strings.HasSuffix(c.Storage.DataDir, "x") || c.Model.Path != "a~b" {
		t.Errorf("got %q and %q", c.Storage.DataDir, c.Model.Path)
	}
}

func TestLoadMissing(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.toml")); err == nil {
		t.Error("a file that was named and is missing was accepted")
	}
}

// rewrite writes a file as editors do: it renames a new file over the old one, so that
// no reader sees a part of it.
func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		rewrite(t, path, text)
	}
	write("")
	ctx, cancel := context.WithCancel(t.Context())
	reloads, err := Watch(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	next := func() Reload {
		t.Helper()
		select {
		case r := <-reloads:
			return r
		case <-time.After(time.Minute):
			t.Fatal("the change was not noticed")
		}
		return Reload{}
	}
	write("[ui]\nmouse = false\n")
	if r := next(); r.Err != nil || r.Config.UI.Mouse {
		t.Errorf("got mouse %v, error %v", r.Config.UI.Mouse, r.Err)
	}
	write("[ui]\nmouse = maybe\n")
	if r := next(); r.Err == nil {
		t.Error("a broken file was accepted")
	}
	cancel()
	for range reloads { //nolint:revive // drained until the watch has ended
	}
}

// The directories may be made at the moment when the watch begins.
func TestWatchWhileTheDirectoryIsMade(t *testing.T) {
	for range 20 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config", "rookery", "config.toml")
			made := make(chan error)
			go func() { made <- os.MkdirAll(filepath.Dir(path), 0o700) }()
			reloads, err := Watch(t.Context(), path)
			if err := errors.Join(err, <-made); err != nil {
				t.Fatal(err)
			}
			rewrite(t, path, "[ui]\nmouse = false\n")
			select {
			case r := <-reloads:
				if r.Err != nil || r.Config.UI.Mouse {
					t.Errorf("got mouse %v, error %v", r.Config.UI.Mouse, r.Err)
				}
			case <-time.After(time.Minute):
				t.Error("the new file was not noticed")
			}
		})
	}
}

// The first configuration is made while the program runs.
func TestWatchBeforeTheDirectoryIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config", "rookery", "config.toml")
	ctx, cancel := context.WithCancel(t.Context())
	reloads, err := Watch(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	rewrite(t, path, "[ui]\nmouse = false\n")
	select {
	case r := <-reloads:
		if r.Err != nil || r.Config.UI.Mouse {
			t.Errorf("got mouse %v, error %v", r.Config.UI.Mouse, r.Err)
		}
	case <-time.After(time.Minute):
		t.Error("the new file was not noticed")
	}
	cancel()
	for range reloads { //nolint:revive // drained until the watch has ended
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("../config.example.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("[a]\n[b.c]\nd=1")
	f.Add("keys = {a=[\"b\"]}\nx.y.z = 1")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse("fuzz", []byte(text)); err == nil && c.Engine.Slots < 1 {
			t.Errorf("accepted %d slots", c.Engine.Slots)
		}
	})
}
