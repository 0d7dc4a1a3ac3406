package tokenizer

import "errors"

// A trie over token bytes, as a double array. A node is the index of a unit. Its
// child for byte c is the unit base^c, if the parent field of that unit is the node.
// So a lookup loads one unit for each byte.
//
// Node 0 is the root. Its children are the units rootBase to rootBase+255: all
// of them exist, because a vocabulary holds every single byte.
type trie struct {
	units []unit // a multiple of 256, so that base^c is always inside
}

// A unit packs token+1 (24 bits, 0 for a node that ends no token), base (20
// bits) and parent (20 bits).
type unit uint64

const (
	linkBits  = 20
	linkMask  = 1<<linkBits - 1
	maxUnits  = 1<<linkBits - 256 // linkMask itself marks a free unit's parent
	rootBase  = 256
	freeUnit  = unit(linkMask)
	maxTokens = 1 << 20 // ids are below it
)

func makeUnit(token int32, base, parent int) unit {
	return unit(token+1)<<(2*linkBits) | unit(base)<<linkBits | unit(parent)
}

func (u unit) parent() int    { return int(u & linkMask) }
func (u unit) base() int      { return int(u >> linkBits & linkMask) }
func (u unit) token() int32   { return int32(u>>(2*linkBits)) - 1 }
func (u unit) hasToken() bool { return u>>(2*linkBits) != 0 }

var errTrieFull = errors.New("the vocabulary is too large: its tokens share too few beginnings")

// A word is one token on the way into a trie; key is its sortKey.
type word struct {
	key   uint64
	bytes []byte
	id    int32
}

// span is a node still to be laid out: the words that pass through it are
// words[lo:hi], and depth bytes of them lead to it.
type span struct {
	node, lo, hi, depth int32
}

// builder lays out a trie. Free units form a doubly linked list, in order.
type builder struct {
	units      []unit
	next, prev []int32 // of free units; -1 ends the list
	head, tail int32
}

func newBuilder(units int) *builder {
	return &builder{
		units: make([]unit, 0, units),
		next:  make([]int32, 0, units),
		prev:  make([]int32, 0, units),
		head:  -1, tail: -1,
	}
}

// newTrie builds the trie of words, which are sorted, distinct, not empty,
// and among which are all single bytes.
func newTrie(words []word) (trie, error) {
	b := newBuilder(2 * len(words)) // World has 1.8 nodes for a word
	b.grow()
	b.take(0)
	b.units[0] = makeUnit(-1, rootBase, linkMask)
	queue := append(make([]span, 0, 2*len(words)), span{hi: int32(len(words))})
	var labels []byte
	var starts []int32
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		token, lo := int32(-1), s.lo
		if len(words[lo].bytes) == int(s.depth) {
			token = words[lo].id
			lo++
		}
		labels, starts = branches(words, s, lo, labels[:0], starts[:0])
		base := 0
		if len(labels) > 0 {
			var err error
			if base, err = b.place(labels); err != nil {
				return trie{}, err
			}
		}
		b.units[s.node] = makeUnit(token, base, b.units[s.node].parent())
		for i, c := range labels {
			child := base ^ int(c)
			b.take(child)
			b.units[child] = makeUnit(-1, 0, int(s.node))
			queue = append(queue, span{int32(child), starts[i], starts[i+1], s.depth + 1})
		}
	}
	return trie{b.units}, nil
}

// branches appends to labels the bytes that follow s, and to starts where the
// words of each begin, with s.hi after the last.
func branches(words []word, s span, lo int32, labels []byte, starts []int32) ([]byte, []int32) {
	for i := lo; i < s.hi; i++ {
		if c := words[i].bytes[s.depth]; i == lo || c != labels[len(labels)-1] {
			labels = append(labels, c)
			starts = append(starts, i)
		}
	}
	return labels, append(starts, s.hi)
}

// tries bounds the search for the place of a node with several children. Nodes with
// one child, which fit anywhere, fill the gaps that it leaves.
const tries = 64

// place finds a base whose units for all labels are free.
func (b *builder) place(labels []byte) (int, error) {
	if len(labels) == 1 && b.head >= 0 {
		return int(b.head) ^ int(labels[0]), nil
	}
	for f, n := b.tail, 0; f >= 0 && n < tries; f, n = b.prev[f], n+1 {
		base := int(f) ^ int(labels[0])
		if b.fits(base, labels) {
			return base, nil
		}
	}
	if len(b.units) >= maxUnits {
		return 0, errTrieFull
	}
	base := len(b.units)
	b.grow()
	return base, nil
}

func (b *builder) fits(base int, labels []byte) bool {
	for _, c := range labels {
		if b.units[base^int(c)] != freeUnit {
			return false
		}
	}
	return true
}

// grow adds a block of 256 free units.
func (b *builder) grow() {
	for range 256 {
		i := int32(len(b.units))
		b.units = append(b.units, freeUnit)
		b.prev = append(b.prev, b.tail)
		b.next = append(b.next, -1)
		if b.tail >= 0 {
			b.next[b.tail] = i
		} else {
			b.head = i
		}
		b.tail = i
	}
}

// take removes a unit from the free list.
func (b *builder) take(i int) {
	p, n := b.prev[i], b.next[i]
	if p >= 0 {
		b.next[p] = n
	} else {
		b.head = n
	}
	if n >= 0 {
		b.prev[n] = p
	} else {
		b.tail = p
	}
}
