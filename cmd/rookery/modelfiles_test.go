package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rookery/config"
)

// TestBrokenModelFilesAreListed checks that the list has files that cannot be read,
// each with the reason, and leaves out an adapter that can be read.
func TestBrokenModelFilesAreListed(t *testing.T) {
	adapter, err := os.ReadFile("../../infer/cpu/testdata/adapters/lora.pth")
	if err != nil {
		t.Fatal(err)
	}
	var c config.Config
	c.Storage.DataDir = t.TempDir()
	dir := filepath.Join(c.Storage.DataDir, "models")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"adapter.pth": adapter, "cut.pth": adapter[:len(adapter)/2], "empty.safetensors": nil,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := modelFiles(c, true)
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, m := range list {
		why[m.Name] = m.Problem
	}
	if why["rookery-demo"] != "" || len(why) != 3 {
		t.Errorf("listed with problems: %q", why)
	}
	for name, want := range map[string]string{"cut": "the zip directory cannot be read", "empty": "the file is empty"} {
		if !strings.HasPrefix(why[name], want) || strings.ContainsAny(why[name], "\n") {
			t.Errorf("%s cannot be run for %q, want %q", name, why[name], want)
		}
	}
}
