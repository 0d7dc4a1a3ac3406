package compare

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

// An Answer is what is compared of an answer, running or ended.
type Answer struct {
	Text     string
	Drawn    []infer.Token
	Complete bool // the model has ended it
	Model    *infer.Model
	Header   string // the beginning of Text that the prompt gave
}

// lead is by how many bytes the text is longer before its first token's.
func (a *Answer) lead() int {
	if a.Header == "" && len(a.Drawn) > 0 && strings.HasPrefix(string(a.Model.Tokenizer.Bytes(a.Drawn[0].ID)), " ") {
		return -1 // the space after "Assistant:" is not shown
	}
	return len(a.Header)
}

// An Agreement is how far two answers were found to be alike. It grows as they
// do; the zero Agreement is that of two answers that nobody has compared yet.
type Agreement struct {
	tokens, bytes int
	text          tokenizer.Assembler
	differs       bool
}

// FirstDifference compares what two answers have said since it compared them
// last, by their tokens. Of models with different tokenizers it compares the
// texts.
func (g *Agreement) FirstDifference(a, other Answer) Difference {
	if a.Model == nil || other.Model == nil {
		return Difference{} // nothing was answered
	}
	if !SameTokenizer(a.Model, other.Model) {
		n := commonText(a.Text, other.Text)
		found := n < min(len(a.Text), len(other.Text)) ||
			a.Complete && len(other.Text) > n || other.Complete && len(a.Text) > n
		return Difference{Found: found, Token: -1, Byte: n}
	}
	g.compareTokens(a, other)
	return Difference{Found: g.differs, Token: g.tokens, Byte: min(max(g.bytes+a.lead(), 0), len(a.Text))}
}

// compareTokens compares new tokens. Where one answer has come to its end and
// the other goes on, they differ.
func (g *Agreement) compareTokens(answer, other Answer) {
	a, b := answer.Drawn, other.Drawn
	for !g.differs && g.tokens < min(len(a), len(b)) {
		if a[g.tokens].ID != b[g.tokens].ID {
			g.differs = true
			return
		}
		g.bytes += len(g.text.Push(answer.Model.Tokenizer.Bytes(a[g.tokens].ID)))
		g.tokens++
	}
	g.differs = g.differs || answer.Complete && len(b) > len(a) || other.Complete && len(a) > len(b)
}

// SameTokenizer says that the tokens of two models mean the same.
func SameTokenizer(a, b *infer.Model) bool {
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
