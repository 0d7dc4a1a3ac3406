package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"rookery/ui/terminal"

	"github.com/yuin/goldmark/util"
)

// special returns what the n bytes at i show if that is not themselves.
func (in *inliner) special(s []byte, i, base int) (out string, n int) {
	switch s[i] {
	case '\\':
		if i+1 < len(s) && util.IsPunct(s[i+1]) {
			if s[i+1] == '(' || s[i+1] == '[' {
				in.opener = min(in.opener, base+i) // of a formula
			}
			return string(s[i+1]), 2
		}
	case '\t', '\n':
		return " ", 1
	case '&':
		return entity(s[i:])
	case '<':
		return lineBreakTag(s[i:])
	case '[':
		in.brackets = append(in.brackets, base+i)
	case ']':
		if k := len(in.brackets); k > 0 {
			in.brackets = in.brackets[:k-1]
		}
	case '*', '_', '~', '`', '$':
		if canOpen(s, i) {
			in.opener = min(in.opener, base+i)
		}
	}
	return "", 0
}

// canOpen says whether the mark at i could open emphasis, strikethrough, a code
// span or a formula that text to come would close.
func canOpen(s []byte, i int) bool {
	if s[i] == '`' {
		return true
	}
	next, _ := utf8.DecodeRune(s[i+1:])
	if unicode.IsSpace(next) {
		return false
	}
	if s[i] == '_' && i > 0 {
		prev, _ := utf8.DecodeLastRune(s[:i])
		return !unicode.IsLetter(prev) && !unicode.IsDigit(prev)
	}
	return true
}

// entity resolves a character reference. What it stands for is as little
// trusted as the text itself.
func entity(s []byte) (out string, n int) {
	end := bytes.IndexByte(s[:min(len(s), 40)], ';')
	if end < 2 {
		return "", 0
	}
	name := string(s[1:end])
	if name[0] != '#' {
		e, ok := util.LookUpHTML5EntityByName(name)
		if !ok {
			return "", 0
		}
		return oneLine(string(e.Characters)), end + 1
	}
	digits, base := name[1:], 10
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		digits, base = digits[1:], 16
	}
	v, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return "", 0
	}
	r := rune(utf8.RuneError)
	if v > 0 && v <= unicode.MaxRune {
		r = rune(v)
	}
	return oneLine(string(r)), end + 1
}

func oneLine(s string) string {
	c := terminal.Cleaner{Show: true}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, string(c.Flush(c.Append(nil, s))))
}

// lineBreakTag recognises the one tag that means something in plain text.
func lineBreakTag(s []byte) (out string, n int) {
	for _, tag := range []string{"<br>", "<br/>", "<br />"} {
		if len(s) >= len(tag) && strings.EqualFold(string(s[:len(tag)]), tag) {
			return "\n", len(tag)
		}
	}
	return "", 0
}
