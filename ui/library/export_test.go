package library

import (
	"testing"

	"rookery/chat/transfer"
)

func TestNewExport(t *testing.T) {
	for _, c := range []struct {
		arg    string
		format transfer.Format
		path   string
	}{
		{"", transfer.Markdown, "a-title-文.md"},
		{"md", transfer.Markdown, "a-title-文.md"},
		{"json", transfer.JSON, "a-title-文.json"},
		{"json /x/y z", transfer.JSON, "/x/y z"},
		{"/x/y.JSON", transfer.JSON, "/x/y.JSON"},
		{"notes", transfer.Markdown, "notes"},
		{"bundle", transfer.Bundle, "a-title-文.rookery"},
		{"x.rookery", transfer.Bundle, "x.rookery"},
		{"tree", transfer.WholeTree, "a-title-文.json"},
	} {
		if e := NewExport(c.arg, "A Title: 文!"); e.format != c.format || e.Path != c.path {
			t.Errorf("export %q: %s to %q", c.arg, e.format, e.Path)
		}
	}
}
