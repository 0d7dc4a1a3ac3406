package library

import (
	"testing"

	"rookery/chat"
)

func TestNewExport(t *testing.T) {
	for _, c := range []struct {
		arg    string
		format chat.Format
		path   string
	}{
		{"", chat.Markdown, "a-title-文.md"},
		{"md", chat.Markdown, "a-title-文.md"},
		{"json", chat.JSON, "a-title-文.json"},
		{"json /x/y z", chat.JSON, "/x/y z"},
		{"/x/y.JSON", chat.JSON, "/x/y.JSON"},
		{"notes", chat.Markdown, "notes"},
		{"bundle", chat.Bundle, "a-title-文.rookery"},
		{"x.rookery", chat.Bundle, "x.rookery"},
		{"tree", chat.WholeTree, "a-title-文.json"},
	} {
		if e := NewExport(c.arg, "A Title: 文!"); e.format != c.format || e.Path != c.path {
			t.Errorf("export %q: %s to %q", c.arg, e.format, e.Path)
		}
	}
}
