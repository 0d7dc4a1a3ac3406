package chat

import (
	"context"
	"slices"
	"time"

	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/infer"
)

// A choice is several answers to one prompt that are generated together. Each
// is journaled by itself and committed when it ends, so that a crash loses none.
type choice struct {
	prompt       turn.ID
	rows         []turn.ID           // of the answers, in their order
	answers      map[turn.ID]*answer // all of rows, also those that have ended
	running      []*answer           // of those, the ones that have not
	compared     bool                // they are variants, each with settings of its own
	chosen       bool                // Keep was called: what still runs is kept
	voted        bool                // a person said which is best
	lead         turn.ID             // the head goes to it when it ends; 0: the first that is there
	before       turn.Conversation
	stop         context.CancelFunc // of reading the prompt, which is for all rows
	secondModels []*SecondModel     // held until the choice is over
}

// endChoice says that nobody chooses any more. The caller holds mu; no answer
// of another model runs.
func (d *Dialogue) endChoice() {
	if d.choice != nil {
		dismiss(d.choice.secondModels)
	}
	d.choice = nil
}

// An Alternative is one answer of several to the same prompt.
type Alternative struct {
	Live    // of one that has ended as well
	Variant Variant
	Ended   bool
	Reason  infer.Reason // once it has ended
	Open    bool         // it can be continued
	Usage   infer.Usage  // once it has ended
	// FirstToken is how long it took to the first token, reading included; 0
	// before.
	FirstToken time.Duration
	// Rate is tokens a second: of the last second while it runs, then of all.
	Rate    float64
	Differs compare.Difference // from the first row

	model  *infer.Model
	header string // the beginning of the text that the prompt gave
}

// FirstDifference is where an alternative begins to differ from another one, by
// the tokens that were drawn.
func (d *Dialogue) FirstDifference(row, other Alternative) compare.Difference {
	var g compare.Agreement
	return g.FirstDifference(row.compared(), other.compared())
}

// compared is what is compared of the alternative.
func (r *Alternative) compared() compare.Answer {
	return compare.Answer{Text: r.Text, Drawn: r.Drawn, Complete: r.Ended && r.Reason == infer.ReasonStop, Model: r.model, Header: r.header}
}

// finishRow puts one answer of several into the tree.
func (d *Dialogue) finishRow(a *answer, end infer.Ending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.choice
	c.running = slices.DeleteFunc(c.running, func(r *answer) bool { return r == a })
	if d.run = nil; len(c.running) > 0 {
		d.run = c.running[0]
	}
	switch {
	case a.dropped:
		d.drop([]turn.ID{a.turn.ID})
	case a.worthKeeping(end):
		d.keepAnswer(a, end)
		if c.leads(a.turn.ID, d.conv.Head) {
			d.goOnFrom(a.turn.ID)
		}
		if a.settings.second != nil {
			end.Snapshot = nil // of no use to the conversation's model
		}
		d.commitAnswer(a.turn.ID, end.Snapshot)
	default:
		c.forget(a.turn.ID)
	}
	if len(c.running) == 0 && (c.chosen || len(c.rows) == 0) {
		d.endChoice()
	}
	d.ended(end)
}

// leads says whether the head goes to a row that has ended: before Keep to the
// first of those that are there, afterwards to the one that was chosen.
func (c *choice) leads(row, head turn.ID) bool {
	if c.lead != 0 {
		return row == c.lead
	}
	at := slices.Index(c.rows, head)
	return at < 0 || slices.Index(c.rows, row) < at
}

func (c *choice) forget(row turn.ID) {
	c.rows = slices.DeleteFunc(c.rows, func(id turn.ID) bool { return id == row })
	delete(c.answers, row)
	for _, a := range c.answers {
		a.agreed = compare.Agreement{} // it may have been the first
	}
}

// rows are what a view shows of several answers, until they were chosen from.
// The caller holds mu.
func (d *Dialogue) rows() []Alternative {
	c := d.choice
	if c == nil || c.chosen {
		return nil
	}
	rows := make([]Alternative, 0, len(c.rows))
	for _, id := range c.rows {
		if row, ok := d.row(c.answers[id]); ok {
			rows = append(rows, row)
		}
	}
	for i := range rows {
		if i == 0 {
			continue
		}
		rows[i].Differs = c.answers[rows[i].Turn.ID].agreed.FirstDifference(rows[i].compared(), rows[0].compared())
	}
	return rows
}

// row is what a view shows of one of several answers. The caller holds mu.
func (d *Dialogue) row(a *answer) (Alternative, bool) {
	r := Alternative{Live: *a.live(), Variant: a.variant, FirstToken: a.first, Rate: a.progress.Rate, model: a.model(), header: a.header}
	if slices.Contains(d.choice.running, a) {
		return r, true
	}
	n := d.tree.nodes[a.turn.ID]
	if n == nil {
		return Alternative{}, false
	}
	t := n.turn
	r.Turn, r.Text, r.Progress.Generated = t, t.Text, t.Usage.Generated
	r.Ended, r.Reason, r.Open, r.Usage, r.Rate = true, t.Reason, t.Open, t.Usage, t.Usage.Rate()
	return r, true
}
