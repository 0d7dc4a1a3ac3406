package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A bpeFile is the part of a tokenizer.json of the tokenizers package that is read.
type bpeFile struct {
	Added []struct {
		ID         int    `json:"id"`
		Content    string `json:"content"`
		Special    bool   `json:"special"`
		Normalized bool   `json:"normalized"`
		SingleWord bool   `json:"single_word"`
		LStrip     bool   `json:"lstrip"`
		RStrip     bool   `json:"rstrip"`
	} `json:"added_tokens"`
	Normalizer *struct {
		Type string `json:"type"`
	} `json:"normalizer"`
	PreTokenizer *struct {
		Type        string `json:"type"`
		PrefixSpace bool   `json:"add_prefix_space"`
		UseRegex    *bool  `json:"use_regex"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type   string            `json:"type"`
		Vocab  map[string]int    `json:"vocab"`
		Merges []json.RawMessage `json:"merges"`
	} `json:"model"`
}

// isBPE says whether a JSON file is one of the tokenizers package.
func isBPE(data []byte) bool {
	var f struct {
		Model json.RawMessage `json:"model"`
	}
	return json.Unmarshal(data, &f) == nil && f.Model != nil
}

// parseBPE reads a tokenizer.json of the tokenizers package: byte-level BPE with the
// words of GPT-2.
func parseBPE(name string, data []byte) (*Tokenizer, error) {
	var f bpeFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	b := &bpe{merges: make(map[[2]int32]merge, len(f.Model.Merges))}
	b.nfc = f.Normalizer != nil
	v := vocabulary{name: name}
	if err := f.addVocab(&v, b); err != nil {
		return nil, err
	}
	merges, err := f.addMerges(b)
	if err != nil {
		return nil, err
	}
	t, err := v.indexed()
	if err != nil {
		return nil, err
	}
	t.bpe = b
	h := sha256.New()
	h.Write([]byte(t.digest())) // a hash never fails
	b.hashInto(h, merges)
	t.fingerprint = hex.EncodeToString(h.Sum(nil))
	return t, nil
}

// check refuses what is encoded in another way.
func (f *bpeFile) check() error {
	switch p := f.PreTokenizer; {
	case f.Model.Type != "BPE":
		return fmt.Errorf("a tokenizer of the type %.40q, only BPE is read", f.Model.Type)
	case f.Normalizer != nil && f.Normalizer.Type != "NFC":
		return fmt.Errorf("its normalizer is %.40q, only NFC is known", f.Normalizer.Type)
	case p == nil || p.Type != "ByteLevel" || p.PrefixSpace || p.UseRegex != nil && !*p.UseRegex:
		return errors.New("its words are not those of GPT-2, which are the only ones that are known")
	}
	return nil
}

// addVocab adds the tokens of the model and those that were added to it. Special ones
// have no bytes.
func (f *bpeFile) addVocab(v *vocabulary, b *bpe) error {
	added := map[int]bool{}
	for _, a := range f.Added {
		if a.SingleWord || a.LStrip || a.RStrip || a.Content == "" {
			return fmt.Errorf("its token %.40q needs rules that are not known", a.Content)
		}
		if err := checkEntry(a.ID, len(a.Content)); err != nil {
			return err
		}
		added[a.ID] = true
		to := &b.special
		if a.Normalized {
			to = &b.normalised
		}
		to.put(a.Content, int32(a.ID))
		if !a.Special {
			v.add(int32(a.ID), []byte(a.Content))
		}
	}
	for i := range b.single {
		b.single[i] = -1
	}
	for text, id := range f.Model.Vocab {
		token, err := fromByteLevel(text)
		if err == nil {
			err = checkEntry(id, len(token))
		}
		if err != nil {
			return fmt.Errorf("token %d: %w", id, err)
		}
		if added[id] {
			continue
		}
		v.add(int32(id), token)
		if len(token) == 1 {
			b.single[token[0]] = int32(id)
		}
	}
	for c, id := range b.single {
		if inText := c < 0xc0 || c > 0xc1 && c < 0xf5; inText && id < 0 {
			return fmt.Errorf("it has no token for the byte %#x, and without it text cannot be encoded", c)
		}
	}
	return nil
}

// addMerges reads the merges, "left right" or ["left", "right"], in their order.
func (f *bpeFile) addMerges(b *bpe) ([][2]int32, error) {
	all := make([][2]int32, 0, len(f.Model.Merges))
	for rank, raw := range f.Model.Merges {
		var both [2]string
		var line string
		if json.Unmarshal(raw, &line) == nil {
			var ok bool
			if both[0], both[1], ok = strings.Cut(line, " "); !ok {
				return nil, fmt.Errorf("merge %d is %.40q, not two tokens", rank, line)
			}
		} else if err := json.Unmarshal(raw, &both); err != nil {
			return nil, fmt.Errorf("merge %d: %w", rank, err)
		}
		left, okLeft := f.Model.Vocab[both[0]]
		right, okRight := f.Model.Vocab[both[1]]
		id, ok := f.Model.Vocab[both[0]+both[1]]
		if !okLeft || !okRight || !ok {
			return nil, fmt.Errorf("merge %d joins %.40q and %.40q, and not all of them are tokens", rank, both[0], both[1])
		}
		m := [2]int32{int32(left), int32(right)}
		b.merges[m] = merge{int32(rank), int32(id)}
		all = append(all, m)
	}
	return all, nil
}

// byteLevel are the characters that stand for bytes in byte-level vocabularies:
// visible characters for themselves, and the others, in order, from U+0100 on.
var byteLevel = func() map[rune]byte {
	chars, next := map[rune]byte{}, rune(256)
	for b := range 256 {
		r := rune(b)
		if r < '!' || r > '~' && r < '¡' || r > '¬' && r < '®' {
			r = next
			next++
		}
		chars[r] = byte(b)
	}
	return chars
}()

// fromByteLevel undoes it.
func fromByteLevel(text string) ([]byte, error) {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		b, ok := byteLevel[r]
		if !ok {
			return nil, fmt.Errorf("%.40q is not written in byte-level characters", text)
		}
		out = append(out, b)
	}
	return slices.Clip(out), nil
}
