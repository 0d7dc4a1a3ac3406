package chat

import (
	"slices"
	"time"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
)

// finish puts the answer into the tree, and does what was accepted meanwhile.
func (d *Dialogue) finish(a *answer, end infer.Ending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run = nil
	if a.worthKeeping(end) {
		d.keepAnswer(a, end)
		d.goOnFrom(a.turn.ID)
		d.commitAnswer(a.turn.ID, end.Snapshot)
	}
	d.ended(end)
}

// ended is after every answer.
func (d *Dialogue) ended(end infer.Ending) {
	if end.Err != nil {
		d.err = end.Err
	}
	next := d.next
	if next == nil || d.run != nil {
		d.reline()
		return
	}
	d.next = nil
	d.endChoice()
	next() // what it does is shown: between the two nothing was at rest
}

// worthKeeping says that an ended answer is more than there was. One that was
// stopped or failed before it said anything leaves the tree as it was.
func (a *answer) worthKeeping(end infer.Ending) bool {
	switch {
	case a.journaled:
		return true
	case a.stopping && a.resumed == nil:
		return false // also if it was at its end by then: grow took nothing of it
	case a.resumed != nil:
		return len(end.Tokens) > 0 || end.Reason == infer.ReasonStop
	default:
		return end.Reason == infer.ReasonStop || end.Reason == infer.ReasonLength
	}
}

// keepAnswer puts what an ended answer has become into the tree. The caller
// holds mu, moves the head where it belongs and commits.
func (d *Dialogue) keepAnswer(a *answer, end infer.Ending) {
	t := a.turn
	t.Tokens = slices.Concat(t.Tokens, end.Tokens)
	t.Text = a.text.String()
	t.Sampling = a.sampling
	t.Open = end.Reason != infer.ReasonStop
	t.Reason = end.Reason
	t.Usage = addUsage(t.Usage, end.Usage)
	if end.Snapshot != nil { // one that was chosen as the answer ended came too late
		t.AdapterID = end.Snapshot.Adapter
	}
	t.Recall = d.recall(a.header, t.Text)
	switch t.History = (turn.History{}); {
	case a.settings.second != nil: // of no use to the conversation's model
	case end.Snapshot != nil:
		t.History = a.historyOf(a.begun, end.Snapshot)
	default:
		t.History = a.readSoFar().Until(a.line.Prompt() + len(t.Tokens))
	}
	if a.settings.second == nil { // figures are of the conversations' tokens
		d.drawn.keep(t.ID, a.drawn, a.resumed != nil && a.resumed.ID == t.ID)
	}
	t.Pinned = a.settings.base != a.base && a.settings.second == nil // other turns of its line begin from another base
	if n := d.tree.nodes[t.ID]; n != nil {                           // may have been marked while it went on
		t.Label, t.Pinned = n.turn.Label, n.turn.Pinned
	}
	if err := d.tree.add(t); err != nil { // its parent is a turn of the tree
		panic("chat: " + err.Error())
	}
}

// commitAnswer saves an answer of the tree with the head as it is now.
func (d *Dialogue) commitAnswer(id turn.ID, s *infer.Snapshot) {
	d.conv.Updated, d.conv.CopyOf = time.Now(), 0
	d.saver.Commit(d.conv, d.tree.nodes[id].turn, s)
	d.tree.hold(id, s)
}

// recall is what later turns read of an answer that thought; nil if they read all of it.
func (d *Dialogue) recall(header, text string) []int32 {
	if d.workspace.settings().KeepThoughts {
		return nil
	}
	recall, ok := prompt.ForgetThought(header, text)
	if !ok {
		return nil
	}
	return d.template().Tokenizer.Encode(nil, recall)
}

func addUsage(a, b infer.Usage) infer.Usage {
	first := a.FirstToken
	if a.Generated == 0 {
		first = b.FirstToken
	}
	return infer.Usage{
		Read: a.Read + b.Read, Generated: a.Generated + b.Generated,
		ReadTime: a.ReadTime + b.ReadTime, DecodeTime: a.DecodeTime + b.DecodeTime,
		FirstToken: first,
	}
}
