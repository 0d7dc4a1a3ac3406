package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The bounds of a room: files of product code in a package, and lines in one.
const (
	mostFiles = 40
	mostLines = 400
)

// TestRooms holds the rules of docs/architecture.md: imports go downwards, and
// no room and no file grows too large.
func TestRooms(t *testing.T) {
	files := map[string]int{} // by package
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (d.Name() == "testdata" || name == "bin" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		room := path.Dir(name)
		files[room]++
		source, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if n := bytes.Count(source, []byte("\n")); n > mostLines {
			t.Errorf("%s has %d lines; %d are allowed: a file is one noun", name, n, mostLines)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := forbidden(room, imported); why != "" {
				t.Errorf("%s imports %s: %s", name, imported, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room, n := range files {
		if n > mostFiles {
			t.Errorf("%s has %d files; %d are allowed", room, n, mostFiles)
		}
	}
	if len(files) < 30 {
		t.Errorf("only %d packages were found", len(files))
	}
}

// features are the rooms of ui that others reach through ui/kit alone.
var features = []string{"ui/composer", "ui/transcript", "ui/panel", "ui/tree", "ui/compare", "ui/states", "ui/persona", "ui/library"}

// forbidden says why code of a room may not import a package, or "".
func forbidden(room, imported string) string {
	in := func(tree string) bool { return room == tree || strings.HasPrefix(room, tree+"/") }
	to, ours := strings.CutPrefix(imported, "rookery/")
	toTree := func(tree string) bool { return ours && (to == tree || strings.HasPrefix(to, tree+"/")) }
	switch {
	case imported == "database/sql" || strings.HasPrefix(imported, "modernc.org/sqlite"):
		if !in("sessions") {
			return "only sessions speaks SQL"
		}
	case strings.HasPrefix(imported, "charm.land/bubble"):
		if !in("ui") {
			return "only ui draws on the screen"
		}
	case !ours:
	case toTree("untrusted"): // at the very bottom
	case in("untrusted"):
		return "untrusted is below all rooms"
	case in("infer") && !toTree("infer"):
		return "infer knows nothing above it"
	case in("chat") && !toTree("chat") && !toTree("infer"):
		return "chat knows infer and itself"
	case strings.HasPrefix(room, "chat/") && room != "chat/chattest" && to == "chat":
		return "the rooms of chat are below chat"
	case room == "chat/turn" && toTree("chat"):
		return "chat/turn is at the bottom"
	case in("sessions") && !toTree("sessions") && !toTree("chat") && !toTree("infer"):
		return "sessions is a store below the screen"
	case in("config") && (toTree("ui") || toTree("sessions") || toTree("cmd")):
		return "config is read by others and reads none"
	case in("ui") && (toTree("sessions") || toTree("cmd") || toTree("infer/native") || toTree("infer/cpu")):
		return "ui knows chat, not where it is kept or computed"
	case strings.HasPrefix(room, "ui/") && room != "ui/plain" && to == "ui":
		return "only cmd opens the root of ui"
	case slices.Contains(features, room) && slices.Contains(features, to) && room != to:
		return "features know ui/kit and never each other"
	case room == "ui/kit" && (slices.Contains(features, to) || to == "ui/plain"):
		return "kit is below the features"
	case toTree("cmd"):
		return "cmd is at the top"
	}
	return ""
}
