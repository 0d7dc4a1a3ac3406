package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// vocab is the file's vocabulary, in World's text format or as a tokenizer.json, or
// nil if it has none of these kinds.
func (h *ggufHeader) vocab() ([]byte, error) {
	if h.tokens.kind != ggufString {
		return nil, nil
	}
	switch h.text["tokenizer.ggml.model"] {
	case "rwkv":
		return h.worldVocab()
	case "gpt2":
		return h.bpeVocab()
	}
	return nil, nil
}

// gpt2Words are the values of tokenizer.ggml.pre whose words are those of GPT-2.
var gpt2Words = []string{"", "default", "gpt-2", "olmo"}

// The kinds of tokens in tokenizer.ggml.token_type that stand for themselves.
const (
	tokenControl     = 3
	tokenUserDefined = 4
)

// bpeVocab writes a byte-level BPE as the tokenizers package does.
func (h *ggufHeader) bpeVocab() ([]byte, error) {
	if pre := h.text["tokenizer.ggml.pre"]; !slices.Contains(gpt2Words, pre) {
		return nil, refuse("give the model's vocabulary file", "its tokenizer cuts words in the way %s, which is not known", quoted(pre))
	}
	type token struct {
		ID         int    `json:"id"`
		Content    string `json:"content"`
		Special    bool   `json:"special"`
		Normalized bool   `json:"normalized"`
	}
	added, vocab, merges := []token{}, map[string]int{}, []string{}
	for id, text := range h.texts(h.tokens) {
		vocab[string(text)] = id
		switch h.tokenType(id) {
		case tokenControl:
			added = append(added, token{ID: id, Content: string(text), Special: true})
		case tokenUserDefined:
			added = append(added, token{ID: id, Content: string(text), Normalized: true})
		}
	}
	if h.merges.kind == ggufString {
		for _, text := range h.texts(h.merges) {
			merges = append(merges, string(text))
		}
	}
	out, err := json.Marshal(map[string]any{
		"added_tokens":  added,
		"pre_tokenizer": map[string]any{"type": "ByteLevel"},
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	})
	if err == nil && len(out) > maxVocab {
		return nil, refuse(useRelease, "its vocabulary has more than %d bytes", maxVocab)
	}
	return out, err
}

// tokenType is the kind of a token; 0 is not known.
func (h *ggufHeader) tokenType(id int) uint32 {
	if h.types.kind != ggufInt32 || id >= h.types.n {
		return 0
	}
	return binary.LittleEndian.Uint32(h.data[h.types.at+4*id:])
}

// worldVocab writes World's text format.
func (h *ggufHeader) worldVocab() ([]byte, error) {
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
