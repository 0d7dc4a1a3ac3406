package checkpoint

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// vocab is the file's vocabulary in World's text format, or nil if it has none of
// that kind.
func (h *ggufHeader) vocab() ([]byte, error) {
	if h.text["tokenizer.ggml.model"] != "rwkv" || h.tokens.kind != ggufString {
		return nil, nil
	}
	out := make([]byte, 0, h.tokens.n*24)
	for id, text := range h.texts(h.tokens) {
		if id == 0 || string(text) == "[PAD"+strconv.Itoa(id)+"]" {
			continue
		}
		token, err := unescapeToken(text)
		if err != nil {
			return nil, refuse(downloadAgain, "token %d of its vocabulary: %v", id, err)
		}
		out = appendLine(out, id, token)
		if len(out) > maxVocab {
			return nil, refuse(useRelease, "its vocabulary has more than %d bytes", maxVocab)
		}
	}
	return out, nil
}

// texts yields the strings of an array that was passed once, so it is whole.
func (h *ggufHeader) texts(a ggufArray) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		at := a.at
		for i := range a.n {
			n := int(binary.LittleEndian.Uint64(h.data[at:]))
			if !yield(i, h.data[at+8:at+8+n]) {
				return
			}
			at += 8 + n
		}
	}
}

// unescapeToken undoes what Python's repr of bytes wrote, without its quotes.
func unescapeToken(text []byte) ([]byte, error) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		if i++; i == len(text) {
			return nil, fmt.Errorf("%s ends in a backslash", quoted(string(text)))
		}
		switch text[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'x':
			if len(text) < i+3 {
				return nil, fmt.Errorf("bad escape in %s", quoted(string(text)))
			}
			code, err := strconv.ParseUint(string(text[i+1:i+3]), 16, 8)
			if err != nil {
				return nil, fmt.Errorf("bad escape in %s", quoted(string(text)))
			}
			out = append(out, byte(code))
			i += 2
		default:
			out = append(out, text[i])
		}
	}
	return out, nil
}

// appendLine writes a token as a line of World's text format.
func appendLine(out []byte, id int, token []byte) []byte {
	out = strconv.AppendInt(out, int64(id), 10)
	out = append(out, " b'"...)
	for _, b := range token {
		if b < ' ' || b > '~' || b == '\'' || b == '\\' {
			out = fmt.Appendf(out, `\x%02x`, b)
		} else {
			out = append(out, b)
		}
	}
	out = append(out, "' "...)
	out = strconv.AppendInt(out, int64(len(token)), 10)
	return append(out, '\n')
}
