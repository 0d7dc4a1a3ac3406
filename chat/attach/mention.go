package attach

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A mention is a place of a text that may name a file.
type mention struct {
	start, end int    // of the mark and the path, in bytes
	path       string // as it is written, without the mark and quotes
}

// mentions are the places of a text that may name files, in their order. Fenced code
// has none: there an @ means something else.
func mentions(text string) []mention {
	var all []mention
	fence, at := "", 0
	for line := range strings.Lines(text) {
		run := fenceOf(line)
		switch {
		case fence == "" && run != "":
			fence = run
		case fence == "":
			all = append(all, mentionsIn(line, at)...)
		case run != "" && run[0] == fence[0] && len(run) >= len(fence):
			fence = ""
		}
		at += len(line)
	}
	return all
}

// fenceOf is the run of backticks or tildes that a line of code begins or ends with,
// or "".
func fenceOf(line string) string {
	rest := strings.TrimLeft(line, " ")
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return ""
	}
	run := rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
	if len(run) < 3 {
		return ""
	}
	return run
}

// mentionsIn are those of a line that stands at a place of the text.
func mentionsIn(line string, at int) []mention {
	var all []mention
	for i := 0; i < len(line); i++ {
		if line[i] != '@' || !startsWord(line[:i]) {
			continue
		}
		rest := line[i+1:]
		path, length := rest, len(rest)
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			end := strings.IndexByte(quoted, '"')
			if end < 0 {
				continue
			}
			path, length = quoted[:end], end+2
		} else {
			if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
				path, length = rest[:end], end
			}
			if strings.HasPrefix(path, "@") {
				path = ""
			}
		}
		if path != "" {
			all = append(all, mention{at + i, at + i + 1 + length, path})
		}
		i += length
	}
	return all
}

// startsWord says that a word may begin behind a text.
func startsWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || unicode.IsSpace(r) || strings.ContainsRune(`([{"'`, r)
}

// Named are the paths that a text may name, as they are written. It looks at no disk.
func Named(text string) []string {
	if !strings.Contains(text, "@") {
		return nil
	}
	var paths []string
	for _, m := range mentions(text) {
		paths = append(paths, m.path)
	}
	return paths
}

// shorter are the paths that may be meant by one that ends in punctuation, which
// belongs to the sentence if no file has it in its name.
func shorter(path string) []string {
	all := []string{path}
	for path != "" && strings.ContainsRune(`.,;:!?)]}"'`, rune(path[len(path)-1])) {
		path = path[:len(path)-1]
		all = append(all, path)
	}
	return all
}

// Unfinished is the path that is being written at the end of a text, up to the
// cursor, and how many bytes its mark and itself have. ok says that there is one.
func Unfinished(before string) (path string, length int, ok bool) {
	for i := len(before) - 1; i >= 0; i-- {
		if before[i] != '@' || !startsWord(before[:i]) {
			continue
		}
		path, quoted := strings.CutPrefix(before[i+1:], `"`)
		if quoted && strings.Contains(path, `"`) || !quoted && strings.ContainsFunc(path, unicode.IsSpace) || strings.HasPrefix(path, "@") {
			return "", 0, false
		}
		return path, len(before) - i, true
	}
	return "", 0, false
}

// Mark is how a prompt names a path. more leaves a quoted one open: the path of a
// folder goes on.
func Mark(path string, more bool) string {
	if !strings.ContainsFunc(path, unicode.IsSpace) {
		return "@" + path
	}
	if more {
		return `@"` + path
	}
	return `@"` + path + `"`
}
