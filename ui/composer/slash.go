package composer

import "strings"

// ParseCommand takes a prompt apart. A prompt that begins with two slashes is
// text that begins with one; a path is text.
func ParseCommand(prompt string) (name, arg, text string, isCommand bool) {
	if rest, ok := strings.CutPrefix(prompt, "//"); ok {
		return "", "", "/" + rest, false
	}
	rest, ok := strings.CutPrefix(prompt, "/")
	if !ok {
		return "", "", prompt, false
	}
	name, arg, _ = strings.Cut(rest, " ")
	if !isCommandName(name) {
		return "", "", prompt, false
	}
	return name, strings.TrimSpace(arg), "", true
}

// isCommandName says that a word could be the name of a command and not, say, a
// path.
func isCommandName(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
