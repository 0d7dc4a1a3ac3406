package prompt

import (
	"slices"
	"strings"
	"unicode"
)

// CleanText prepares what a person wrote for a prompt: line ends become \n,
// blank lines, which would end the turn, are removed, and space around the
// whole is dropped. Indentation stays, that of a first line of several too.
func CleanText(s string) string {
	lines := strings.Split(NormalizeLines(s), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(lines) == 1 {
		return strings.TrimSpace(lines[0])
	}
	return strings.TrimRightFunc(strings.Join(lines, "\n"), unicode.IsSpace)
}

var unixEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// NormalizeLines ends every line with \n, as on Unix.
func NormalizeLines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return unixEnds.Replace(s)
}

// JoinLines is a text on one line.
func JoinLines(s string) string { return strings.Join(strings.Fields(s), " ") }

// trimLines is a text without space around it, with \n at the ends of lines.
func trimLines(s string) string { return strings.TrimSpace(NormalizeLines(s)) }
