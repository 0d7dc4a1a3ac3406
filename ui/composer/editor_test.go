package composer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExternalEditor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -s")
	if got := editorCommand(); len(got) != 2 || got[0] != "ed" {
		t.Errorf("the editor is %q", got)
	}
	path, err := writeTemporary("draft")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "draft" {
		t.Fatalf("the editor gets %q, %v", data, err)
	}
	if err := os.WriteFile(path, []byte("written\r\nelsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := readEdited("ed", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := newComposer(t)
	c.BeginEdit(Edited{Turn: 7}, "draft")
	c.endEditor(nil, text, nil)
	if got := c.Text(); got != "written\nelsewhere" {
		t.Errorf("the prompt is %q", got)
	}
	if e, _ := c.Edited(); e.Turn != 7 {
		t.Error("the editor ends the edit")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	_, err = readEdited("ed", filepath.Join(dir, "gone"), errors.New("exit status 1"))
	if err == nil || !strings.HasPrefix(err.Error(), "running ed: exit status 1; set $EDITOR to another one") {
		t.Errorf("failed with %v", err)
	}
}
