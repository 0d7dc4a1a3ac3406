package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A table is columns for people. Flush writes it and reports what failed.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// newFigures is a table whose columns stand to the right; each cell ends in a tab.
func newFigures(w io.Writer) table {
	return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
}

// add adds cells.
func (t table) add(format string, args ...any) { _, _ = fmt.Fprintf(t, format, args...) } // reported by Flush

// fact adds a row of two columns.
func (t table) fact(name, format string, args ...any) {
	t.add("%s\t"+format+"\n", append([]any{name}, args...)...)
}
