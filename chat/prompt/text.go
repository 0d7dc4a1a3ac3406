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

func NormalizeLines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return unixEnds.Replace(s)
}

// Beginning says what comes before the first prompt of a conversation.
type Beginning uint8

const (
	FromZero  Beginning = iota // nothing: the zero state
	Tuned                      // a state that was trained and has read nothing
	AfterText                  // a state that has read a text, without the separator after it
)

// JoinLines is a text on one line.
func JoinLines(s string) string { return strings.Join(strings.Fields(s), " ") }
