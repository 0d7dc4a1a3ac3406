package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Files that this program or the system has made, so that their kind and size are known.
var trusted = []string{
	"infer/demo/make.go",   // reads what the demo is made from
	"infer/load/memory.go", // reads /proc/meminfo
}

var opening = regexp.MustCompile(`\bos\.(Open|ReadFile)\(`)

// TestRoomsOpenFilesInOnePlace holds that all others open files by package untrusted,
// which bounds them.
func TestRoomsOpenFilesInOnePlace(t *testing.T) {
	seen := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
		if err != nil || !opening.Match(source) {
			return err
		}
		seen++
		if !slices.Contains(trusted, name) {
			t.Errorf("%s opens a file by itself; untrusted.Open and untrusted.Read bound it", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < len(trusted) {
		t.Errorf("%d of the %d files that may open others were found", seen, len(trusted))
	}
}
