package main

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelpLinesAreShort checks that every command has a help line that begins with a
// capital letter and fits beside the command's name at 80 columns, and that every flag
// has help.
func TestHelpLinesAreShort(t *testing.T) {
	const width = 50
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		first, _ := utf8.DecodeRuneInString(c.Short)
		if n := utf8.RuneCountInString(c.Short); n == 0 || n > width || !unicode.IsUpper(first) {
			t.Errorf("%s: help of %d characters: %q", c.CommandPath(), n, c.Short)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s has no help", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot(new(app)))
}
