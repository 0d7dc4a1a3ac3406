package load

import (
	"path/filepath"
	"strings"
	"testing"

	"rookery/infer/cpu"
)

func TestMemAvailable(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   16384 kB\nBuffers: 7 kB\n", 16 << 20},
		{"MemTotal: 24000000 kB\n", 0},
		{"MemAvailable: lots\n", 0},
		{"MemAvailable: -5 kB\n", 0},
		{"", 0},
	} {
		if got := memAvailable(strings.NewReader(c.text)); got != c.want {
			t.Errorf("%q: %d bytes, want %d", c.text, got, c.want)
		}
	}
}

func TestCheckMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiny.safetensors")
	writeModel(t, path, tiny)
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	need, err := cpu.EstimateLoad(f, tiny, "fp32")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		available int64
		want      string // empty: it fits
	}{
		{0, ""},
		{need.Bytes, ""},
		{need.Bytes - 1, "as int8 it needs"},
		{1000, "use a smaller model"},
	} {
		err := checkMemory(f, tiny, need, c.available)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%d bytes free of %d needed: %v", c.available, need.Bytes, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)):
			t.Errorf("%d bytes free of %d needed: error %v, want one with the path and %q", c.available, need.Bytes, err, c.want)
		}
	}
}
