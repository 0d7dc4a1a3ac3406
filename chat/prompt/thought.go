package prompt

import "strings"

const (
	thoughtOpens  = "<think>"
	thoughtCloses = "</think>"
)

// SplitThought parts what a thinking model thought from what it answered. A
// text that does not begin with <think> has no thought. open says that the
// thought has not ended yet; what is there of its closing tag is left out.
func SplitThought(text string) (thought, answer string, open bool) {
	s := strings.TrimLeft(text, " \n")
	if !strings.HasPrefix(s, thoughtOpens) {
		// The header of a prompt ends inside the tag: "<think".
		if len(s) > 1 && strings.HasPrefix(thoughtOpens, s) {
			return "", "", true
		}
		return "", text, false
	}
	s = s[len(thoughtOpens):]
	thought, answer, closed := strings.Cut(s, thoughtCloses)
	if !closed {
		return strings.Trim(cutPartial(s, thoughtCloses), "\n"), "", true
	}
	return strings.Trim(thought, "\n"), strings.TrimLeft(answer, " \n"), false
}

// cutPartial removes the longest beginning of tag that s ends with.
func cutPartial(s, tag string) string {
	for n := min(len(tag)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return s[:len(s)-n]
		}
	}
	return s
}

// ForgetThought is what a state reads after a prompt with this header in place
// of an answer whose thought is to be forgotten: an empty thought where the
// header began one, then the answer without blank lines. ok is false when
// there is no finished thought to forget.
func ForgetThought(header, text string) (recall string, ok bool) {
	thought, answer, open := SplitThought(text)
	if open || thought == "" {
		return "", false
	}
	answer = CleanText(answer)
	switch h := strings.TrimLeft(header, " "); {
	case h == "":
		return " " + answer, true
	case strings.HasPrefix(h, thoughtOpens):
		return "\n" + thoughtCloses + "\n" + answer, true
	default: // ends inside the tag
		return thoughtOpens[len(h):] + "\n" + thoughtCloses + "\n" + answer, true
	}
}
