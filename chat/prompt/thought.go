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

// OpensThought says that a header begins a thought and does not end it.
func OpensThought(header string) bool {
	_, _, open := SplitThought(header)
	return open && !strings.Contains(header, "</")
}

// ThoughtEnders are the tokens that end a thought, or begin to.
func (t Template) ThoughtEnders() []int32 {
	var ids []int32
	for id := int32(1); int(id) < t.Tokenizer.Size(); id++ {
		if strings.Contains(string(t.Tokenizer.Bytes(id)), "</") {
			ids = append(ids, id)
		}
	}
	return append(ids, 0)
}

// EncodeThoughtEnd is what ends the thought of an answer so far.
func (t Template) EncodeThoughtEnd(sofar string) (tokens []int32, text string) {
	text = "\n" + thoughtCloses + "\n"
	if strings.HasSuffix(sofar, "\n") {
		text = text[1:]
	}
	return t.Tokenizer.Encode(nil, text), text
}

// EndsThought says that a thought has ended in a text.
func EndsThought(text string) bool { return strings.Contains(text, thoughtCloses) }
