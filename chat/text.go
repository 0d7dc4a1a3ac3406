package chat

import (
	"slices"
	"strings"
	"unicode"
)

// cleanText prepares what a person wrote for a prompt: line ends become \n,
// blank lines, which would end the turn, are removed, and space around the
// whole is dropped. Indentation stays, that of a first line of several too.
func cleanText(s string) string {
	lines := strings.Split(unixLines(s), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(lines) == 1 {
		return strings.TrimSpace(lines[0])
	}
	return strings.TrimRightFunc(strings.Join(lines, "\n"), unicode.IsSpace)
}

var unixEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func unixLines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return unixEnds.Replace(s)
}

// beginning says what comes before the first prompt of a conversation.
type beginning uint8

const (
	fromZero  beginning = iota // nothing: the zero state
	tuned                      // a state that was trained and has read nothing
	afterText                  // a state that has read a text, without the separator after it
)

// joinLines is a text on one line.
func joinLines(s string) string { return strings.Join(strings.Fields(s), " ") }
