package infer

import (
	"sort"

	"rookery/infer/tokenizer"
)

// An answer is the text side of a request: the drawn tokens, their bytes, the
// search for stop strings in them, and the text that is certain.
//
// Byte offsets count from the first byte of the first drawn token.
type answer struct {
	vocabulary *tokenizer.Tokenizer
	stops      stopper
	text       tokenizer.Assembler
	ids        []int32
	ends       []int  // ends[i] is the offset after the bytes of ids[i]
	held       []byte // the last bytes, which may be the beginning of a stop
}

// primeStops feeds the stop strings with bytes before the answer. A stop can begin in
// them, but cuts the answer at its own beginning at most.
func (a *answer) primeStops(ids []int32) {
	for _, id := range ids {
		for _, b := range a.vocabulary.Bytes(id) {
			a.stops.next(b)
		}
	}
}

// push takes a drawn token and returns the text that is certain with it. If the token
// completes a stop, found is true and cut is the offset where the answer ends;
// push must not be called again then.
func (a *answer) push(id int32) (text string, cut int, found bool) {
	end := a.size()
	start := end - len(a.held)
	for _, b := range a.vocabulary.Bytes(id) {
		a.held = append(a.held, b)
		end++
		if n := a.stops.next(b); n > 0 {
			cut, found = max(end-n, 0), true
			break
		}
	}
	a.ids = append(a.ids, id)
	if found {
		a.ends = append(a.ends, end)
		text = a.text.Push(a.held[:cut-start])
		a.held = a.held[:0]
		return text, cut, true
	}
	a.ends = append(a.ends, end)
	certain := max(end-a.stops.pending(), 0) - start
	text = a.text.Push(a.held[:certain])
	a.held = a.held[:copy(a.held, a.held[certain:])]
	return text, 0, false
}

// releaseHeld returns the text held back: the answer ends here without a stop.
func (a *answer) releaseHeld() string {
	text := a.text.Push(a.held)
	a.held = a.held[:0]
	return text
}

// size is the number of bytes of all tokens.
func (a *answer) size() int {
	if len(a.ends) == 0 {
		return 0
	}
	return a.ends[len(a.ends)-1]
}

// heldFrom is the index of the token in which the bytes held back begin, or len(ids)
// if there are none.
func (a *answer) heldFrom() int {
	if len(a.held) == 0 {
		return len(a.ids)
	}
	n, _ := a.locate(a.size() - len(a.held))
	return n
}

// locate says how many whole tokens lie before an offset, and which bytes of the
// next token do.
func (a *answer) locate(offset int) (n int, part []byte) {
	n = sort.Search(len(a.ends), func(i int) bool { return a.ends[i] > offset })
	start := 0
	if n > 0 {
		start = a.ends[n-1]
	}
	if offset == start {
		return n, nil
	}
	return n, a.vocabulary.Bytes(a.ids[n])[:offset-start]
}
