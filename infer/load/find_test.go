package load

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	writeModel(t, filepath.Join(one, "b.safetensors"), tiny)
	writeText(t, filepath.Join(one, "a.PTH"), "not a model")
	writeText(t, filepath.Join(one, "notes.txt"), "nothing")
	writeText(t, filepath.Join(one, "firmware.bin"), "of another program")
	writeText(t, filepath.Join(one, "m-00001-of-00002.safetensors"), "a part of a model")
	if err := os.Mkdir(filepath.Join(one, "dir.pth"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeModel(t, filepath.Join(two, "c.safetensors"), tiny)

	found, err := Find([]string{one, filepath.Join(one, "none"), two})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
		if (f.Name == "a") != (f.Err != nil) {
			t.Errorf("%s: error %v", f.Path, f.Err)
		}
		if f.Err == nil && (f.Shape != tiny || f.Format != "safetensors" || f.Size == 0) {
			t.Errorf("%s: %+v", f.Path, f)
		}
	}
	if len(names) != 3 || names[0] != "a" || names[1] != "b" || names[2] != "c" {
		t.Errorf("found %v, want a, b and c", names)
	}
}

func TestFindRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeText(t, file, "")
	if _, err := Find([]string{file}); err == nil {
		t.Error("a file in place of a directory: no error")
	}
}
