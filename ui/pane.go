package ui

import (
	"fmt"
	"strings"
	"time"

	"rookery/chat"
	"rookery/chat/compare"
	"rookery/chat/prompt"
	"rookery/infer"
	"rookery/infer/tokenizer"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A pane is one of several answers that stand side by side.
type pane struct {
	name   string
	row    chat.Alternative
	there  bool   // row has been seen
	gone   bool   // it has left nothing
	failed string // why, if that is known
	marked bool
	text   paneText
	thought,
	differs span // in text
	token int // of differs, from 1; 0: of another tokenizer
	// perplexity is that of the answer under the reference of ref; 0: not known.
	perplexity float64
	ref        *pane
	top        int
	follow     bool // the end is shown as it grows
	height     int  // of the text
}

// ended says that nothing comes any more.
func (p *pane) ended() bool { return p.gone || p.row.Ended }

// sync takes over what the answer is now, for a text of a size.
func (p *pane) sync(width, height int) {
	p.height = height
	p.text.set(strings.TrimLeft(p.row.Text, " \n"), width)
	p.thought = span{}
	if thought, _, open := prompt.SplitThought(p.row.Text); open {
		p.thought.to = len(p.text.text)
	} else if thought != "" {
		p.thought.to = strings.Index(p.text.text, thoughtEnds) + len(thoughtEnds)
	}
	if most := p.most(); p.follow || p.top > most {
		p.top = most
	}
}

const thoughtEnds = "</think>"

// most is the furthest that the text can be scrolled to.
func (p *pane) most() int { return max(0, len(p.text.rows)-p.height) }

// hidden says where there is more text than is seen.
func (p *pane) hidden(th theme.Theme) string {
	text := ""
	if p.top > 0 {
		text += th.Glyphs.Up
	}
	if p.top < p.most() {
		text += th.Glyphs.Down
	}
	return text
}

func (p *pane) scrollTo(top int) {
	p.top = clamp(top, 0, p.most())
	p.follow = p.top == p.most()
}

// compare finds where the answer begins to differ from the reference's.
func (p *pane) compare(ref *pane, difference func(row, other chat.Alternative) compare.Difference, tok *tokenizer.Tokenizer) {
	if ref == p || !p.there || !ref.there {
		p.differs = span{}
		return
	}
	d := difference(p.row, ref.row)
	if !d.Found {
		p.differs = span{}
		return
	}
	lead := len(p.row.Text) - len(strings.TrimLeft(p.row.Text, " \n"))
	from := len(kit.Clean(p.row.Text[:min(d.Byte, len(p.row.Text))])) - lead
	length := 1
	if tok != nil && p.row.Variant.Model == nil && d.Token >= 0 && d.Token < len(p.row.Drawn) {
		length = max(1, len(tok.Bytes(p.row.Drawn[d.Token].ID)))
	}
	from = max(0, from)
	p.differs, p.token = span{from, from + length}, d.Token+1
	if at := p.differs.to; at < len(p.text.text) { // to the end of a character
		for at < len(p.text.text) && p.text.text[at]&0xc0 == 0x80 {
			at++
		}
		p.differs.to = at
	}
}

// state is what the answer is doing, in a word or two.
func (p *pane) state() string {
	r := p.row
	switch {
	case p.failed != "":
		return "failed"
	case p.gone:
		return "no answer"
	case !p.there:
		return "waiting"
	case r.Reason == infer.ReasonStop:
		return "ended"
	case r.Reason == infer.ReasonLength:
		return "at limit"
	case r.Reason == infer.ReasonCancelled:
		return "stopped"
	case r.Ended:
		return r.Reason.String()
	case r.Progress.Generated > 0:
		return "running"
	case r.Progress.ToRead > 0:
		return fmt.Sprintf("reading %d%%", 100*r.Progress.Read/r.Progress.ToRead)
	}
	return "waiting"
}

// figures are what is known of the answer in numbers.
func (p *pane) figures() []string {
	var list []string
	if n := p.row.Progress.Generated; n > 0 {
		if p.row.Rate > 0 {
			list = append(list, kit.FormatRate(p.row.Rate)+" tok/s")
		}
		list = append(list, kit.FormatCount(n)+" tokens")
	}
	if p.row.FirstToken > 0 {
		list = append(list, "first "+seconds(p.row.FirstToken))
	}
	if p.perplexity > 0 {
		list = append(list, fmt.Sprintf("perplexity %.2f", p.perplexity))
	}
	return list
}

// stated is the state with figures in so many lines.
func (p *pane) stated(figures []string, width, lines int) []string {
	parts := append([]string{p.state()}, figures...)
	if lines == 1 {
		return []string{kit.JoinFitting(parts, width)}
	}
	first := min(3, len(parts))
	rest := ""
	if len(parts) > first {
		rest = kit.JoinFitting(parts[first:], width)
	}
	return []string{kit.JoinFitting(parts[:first], width), rest}
}

// seconds writes a time to the first token: 4 ms, 0.31 s.
func seconds(d time.Duration) string {
	switch {
	case d < 95*time.Millisecond:
		return fmt.Sprintf("%.0f ms", max(1, float64(d)/float64(time.Millisecond)))
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// body is the text that is seen, or why there is none.
func (p *pane) body(th theme.Theme, width, height int) []string {
	switch {
	case p.failed != "":
		lines := p.text.draw(th, p.top, max(0, height-4), p.thought, p.differs)
		for _, l := range kit.Wrap("✗ "+p.failed, width) {
			lines = append(lines, th.Error.Render(l))
		}
		return lines[:min(len(lines), height)]
	case p.gone:
		return []string{th.Muted.Render(kit.Fit("It ended without a word.", width))}
	case p.text.text == "":
		return nil
	}
	return p.text.draw(th, p.top, height, p.thought, p.differs)
}
