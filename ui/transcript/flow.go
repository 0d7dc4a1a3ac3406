package transcript

import (
	"strings"

	"rookery/ui/kit"
	"rookery/ui/terminal"
)

// A flow is plain text that grows, broken into lines. Growing costs the last
// paragraph, not the whole text.
type flow struct {
	width     int
	text      string   // everything so far
	lines     []string // of all paragraphs
	paragraph string   // the last one
	before    int      // number of lines before it
	words     int      // before it
	clean     terminal.Cleaner
}

// set makes text what the flow shows.
func (f *flow) set(text string, width int) {
	width = max(width, 1)
	if width != f.width || !strings.HasPrefix(text, f.text) {
		*f = flow{width: width}
	}
	if len(text) == len(f.text) {
		return
	}
	f.paragraph += strings.ReplaceAll(string(f.clean.Append(nil, text[len(f.text):])), "\t", "    ")
	f.text = text
	if end := strings.LastIndexByte(f.paragraph, '\n'); end >= 0 {
		f.lines = append(f.lines[:f.before], kit.Wrap(f.paragraph[:end], width)...)
		f.words += CountWords(f.paragraph[:end])
		f.before, f.paragraph = len(f.lines), f.paragraph[end+1:]
	}
	f.lines = append(f.lines[:f.before], kit.Wrap(f.paragraph, width)...)
}

// wordCount is the number of words so far.
func (f *flow) wordCount() int { return f.words + CountWords(f.paragraph) }

// CountWords is the number of words of a text.
func CountWords(s string) int {
	n, inside := 0, false
	for i := range len(s) {
		space := s[i] == ' ' || s[i] == '\n' || s[i] == '\t'
		if !space && !inside {
			n++
		}
		inside = !space
	}
	return n
}
