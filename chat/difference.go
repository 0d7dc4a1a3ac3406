package chat

import (
	"strings"
	"unicode/utf8"

	"rookery/infer"
	"rookery/infer/tokenizer"
)

// A Difference is where an answer begins to differ from another one.
type Difference struct {
	Found bool // otherwise they agree as far as both have come, or to their end
	Token int  // place of the first token that differs, in the order of drawing; -1 of models with different tokenizers
	Byte  int  // where its text begins in the answer's text
}

// An agreement is how far an answer was found to be as another one. It only
// grows.
type agreement struct {
	tokens, bytes int
	text          tokenizer.Assembler
	found         bool
}

// grow compares what is new. Where one has come to its end and the other goes
// on, they differ.
func (g *agreement) grow(tok *tokenizer.Tokenizer, row, other Alternative) {
	a, b := row.Drawn, other.Drawn
	for !g.found && g.tokens < min(len(a), len(b)) {
		if a[g.tokens].ID != b[g.tokens].ID {
			g.found = true
			return
		}
		g.bytes += len(g.text.Push(tok.Bytes(a[g.tokens].ID)))
		g.tokens++
	}
	g.found = g.found || row.complete() && len(b) > len(a) || other.complete() && len(a) > len(b)
}

// FirstDifference compares two rows, by the tokens that were drawn.
func (d *Dialogue) FirstDifference(row, other Alternative) Difference {
	var g agreement
	return g.with(row, other)
}

// with compares what is new of two rows. Of models with different tokenizers
// it is their texts.
func (g *agreement) with(row, other Alternative) Difference {
	if row.model == nil || other.model == nil {
		return Difference{} // they are no rows of a view
	}
	if !sameTokenizer(row.model, other.model) {
		n := commonText(row.Text, other.Text)
		found := n < min(len(row.Text), len(other.Text)) ||
			row.complete() && len(other.Text) > n || other.complete() && len(row.Text) > n
		return Difference{Found: found, Token: -1, Byte: n}
	}
	g.grow(row.model.Tokenizer, row, other)
	return g.difference(row.Text, row.lead)
}

// FirstDifference is where an answer begins to differ from another one to the
// same question.
func (a *VariantAnswer) FirstDifference(other VariantAnswer) Difference {
	var g agreement
	return g.with(a.row(), other.row())
}

// row is the answer as one of several that have ended.
func (a *VariantAnswer) row() Alternative {
	return Alternative{
		Live: Live{Text: a.Text, Drawn: a.Drawn}, Ended: true, Reason: a.Reason,
		model: a.model, lead: leadOf(a.header, a.Drawn, a.model.Tokenizer),
	}
}

// difference is where they part in a text that begins with lead bytes more, or
// less, than its tokens.
func (g *agreement) difference(text string, lead int) Difference {
	return Difference{Found: g.found, Token: g.tokens, Byte: min(max(g.bytes+lead, 0), len(text))}
}

// leadOf is by how many bytes an answer's text is longer before its first
// token's.
func leadOf(header string, drawn []infer.Token, tok *tokenizer.Tokenizer) int {
	if header == "" && len(drawn) > 0 && strings.HasPrefix(string(tok.Bytes(drawn[0].ID)), " ") {
		return -1 // the space after "Assistant:" is not shown
	}
	return len(header)
}

func sameTokenizer(a, b *infer.Model) bool {
	return a == b || a.Tokenizer.Fingerprint() == b.Tokenizer.Fingerprint()
}

// commonText is how many bytes the whole characters have that two texts begin
// with alike.
func commonText(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}
