package tokenizer

import (
	"container/heap"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A bpe encodes by merging pairs of tokens, as the tokenizers package does it for
// byte-level BPE: special tokens are cut out, the rest is normalised to NFC, other
// added tokens are cut out, what remains is split into words, and the tokens of a
// word's bytes are merged, the pair of the lowest rank first.
type bpe struct {
	single     [256]int32 // the tokens of the bytes; -1 for bytes that no text has
	merges     map[[2]int32]merge
	nfc        bool
	special    added // cut out of the text as it is
	normalised added // cut out of the normalised text
}

// A merge says what a pair becomes. Lower ranks go first.
type merge struct{ rank, id int32 }

// added are tokens that are found as they are written.
type added struct {
	ids     map[string]int32
	byFirst [256][]string // by their first byte, the longest first
}

// put adds a token, which is not empty.
func (a *added) put(token string, id int32) {
	if a.ids == nil {
		a.ids = map[string]int32{}
	}
	a.ids[token] = id
	list := append(a.byFirst[token[0]], token)
	slices.SortStableFunc(list, func(x, y string) int { return len(y) - len(x) })
	a.byFirst[token[0]] = list
}

// cut calls each for the parts between the tokens, and appends the tokens. Of those
// that begin at the same place it takes the longest.
func (a *added) cut(dst []int32, text string, each func(dst []int32, part string) []int32) []int32 {
	from := 0
	for i := 0; i < len(text) && a.ids != nil; i++ {
		for _, token := range a.byFirst[text[i]] {
			if strings.HasPrefix(text[i:], token) {
				dst = append(each(dst, text[from:i]), a.ids[token])
				from = i + len(token)
				i = from - 1
				break
			}
		}
	}
	return each(dst, text[from:])
}

// encode appends the tokens of a text.
func (b *bpe) encode(dst []int32, text string) []int32 {
	return b.special.cut(dst, text, func(dst []int32, part string) []int32 {
		if b.nfc {
			part = norm.NFC.String(part)
		}
		return b.normalised.cut(dst, part, func(dst []int32, part string) []int32 {
			for part != "" {
				n := wordLen(part)
				dst = b.word(dst, part[:n])
				part = part[n:]
			}
			return dst
		})
	})
}

// A pair is two neighbours that may become one token.
type pair struct {
	merge
	at   int      // of the left one
	both [2]int32 // what they were when the pair was found
}

// pairs are a heap: lowest rank first, then the leftmost.
type pairs []pair

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].at < p[j].at
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }

// Push is for package heap.
func (p *pairs) Push(x any) { *p = append(*p, x.(pair)) } //nolint:errcheck,forcetypeassert // only pairs are pushed

// Pop is for package heap.
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// word appends the tokens of one word. It takes n log n steps.
func (b *bpe) word(dst []int32, word string) []int32 {
	ids := make([]int32, 0, len(word))
	for _, c := range []byte(word) {
		if id := b.single[c]; id >= 0 {
			ids = append(ids, id)
		}
	}
	n := len(ids)
	next, last := make([]int, n), make([]int, n)
	for i := range n {
		next[i], last[i] = i+1, i-1
	}
	var queue pairs
	look := func(at int) {
		if at < 0 || next[at] >= n {
			return
		}
		both := [2]int32{ids[at], ids[next[at]]}
		if m, ok := b.merges[both]; ok {
			heap.Push(&queue, pair{m, at, both})
		}
	}
	for i := range n {
		look(i)
	}
	for len(queue) > 0 {
		p, _ := heap.Pop(&queue).(pair)
		right := next[p.at]
		if ids[p.at] != p.both[0] || right >= n || ids[right] != p.both[1] {
			continue // one of the two became another token meanwhile
		}
		ids[p.at], ids[right] = p.id, -1
		if next[p.at] = next[right]; next[p.at] < n {
			last[next[p.at]] = p.at
		}
		look(p.at)
		look(last[p.at])
	}
	for i := 0; i < n; i = next[i] {
		dst = append(dst, ids[i])
	}
	return dst
}

// hashInto adds what the ids and bytes do not tell.
func (b *bpe) hashInto(h hash.Hash, merges [][2]int32) {
	for _, m := range merges {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(uint32(m[0]))<<32|uint64(uint32(m[1])))) // a hash never fails
	}
}
