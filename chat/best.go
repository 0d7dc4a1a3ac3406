package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rookery/infer"
)

// MaxBest is how many answers Best makes at most.
const MaxBest = 32

// A best is several answers to one prompt that are generated together. Each is
// journaled by itself and committed when it ends, so that a crash loses none.
type best struct {
	prompt  ID
	rows    []ID      // of the answers, in the order of their seeds
	running []*answer // of those, the ones that have not ended
	chosen  bool      // Keep was called: what still runs is kept
	lead    ID        // the head goes to it when it ends; 0: the first that is there
	before  Conversation
	stop    context.CancelFunc // of reading the prompt, which is for all rows
}

// A Row is one answer of several to the same prompt.
type Row struct {
	Live
	Ended  bool
	Reason infer.Reason // once it has ended
	Open   bool         // it can be continued
}

// Best generates n answers to the last prompt at once, with consecutive seeds.
// The prompt is read once; the answers are rows of the same steps. They stay
// siblings unless Keep drops some.
func (d *Dialogue) Best(n int) error {
	return d.act("best", func() error {
		last := d.tree.prompt(d.conv.Head)
		if last == nil {
			return ErrNothing
		}
		return d.bestOf(last, n)
	})
}

// SendBest adds a user turn below the head and generates n answers to it.
func (d *Dialogue) SendBest(text string, n int) error {
	return d.act(text, func() error {
		if err := checkBest(n); err != nil {
			return err
		}
		return d.bestOf(d.prompted(d.conv.Head, text), n)
	})
}

func checkBest(n int) error {
	if n < 2 || n > MaxBest {
		return fmt.Errorf("choose from 2 to %d answers, not %d", MaxBest, n)
	}
	return nil
}

// bestOf starts n answers to a prompt. The caller holds mu.
func (d *Dialogue) bestOf(prompt *node, n int) error {
	if err := checkBest(n); err != nil {
		return err
	}
	b := &best{prompt: prompt.turn.ID, before: d.conv}
	seed := d.nextSeed(prompt)
	ctxs := make([]context.Context, n)
	for i := range n {
		p := d.conv.Sampling
		p.Seed = seed + uint64(i)
		a := &answer{turn: Turn{ID: NewID(), Parent: b.prompt, Role: RoleAssistant, Sampling: p, Created: time.Now()}}
		ctxs[i] = d.prime(a)
		b.rows, b.running = append(b.rows, a.turn.ID), append(b.running, a)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	d.best, d.run = b, b.running[0]
	if d.shut {
		d.stop()
	}
	d.reline()
	rows := slices.Clone(b.running)
	d.work.Go(func() {
		defer b.stop()
		d.generateAll(ctx, rows, ctxs)
	})
	return nil
}

// generateAll reads the prompt once, gives all rows to the engine and then
// follows them.
func (d *Dialogue) generateAll(ctx context.Context, rows []*answer, ctxs []context.Context) {
	rows[0].prepare()
	for _, a := range rows[1:] {
		a.path, a.prompted = rows[0].path, true
		a.prepare()
	}
	s, err := rows[0].readPrompt(ctx)
	for _, a := range rows[1:] {
		a.read = rows[0].read
	}
	limit := d.desk.settings().MaxTokens
	for i, a := range rows {
		stream, failed := (*infer.Stream)(nil), err
		if failed == nil {
			stream, failed = a.submit(ctxs[i], s, limit, nil)
		}
		d.work.Go(func() {
			defer a.cancel()
			if failed != nil {
				d.finishRow(a, unstarted(failed))
				return
			}
			end := a.watch(ctxs[i], stream, s)
			end.Snapshot = a.named(end)
			d.finishRow(a, end)
		})
	}
}

// readPrompt makes the state after the prompt, from which any number of
// answers can be drawn.
func (a *answer) readPrompt(ctx context.Context) (start, error) {
	if err := a.d.desk.rack.Need(ctx, a.way.adapter); err != nil {
		return start{}, err
	}
	s, err := a.below(ctx)
	if a.read = a.reads(s); err != nil || len(s.tokens) == 0 {
		return s, err
	}
	a.noteSwap(s)
	end, err := a.d.readLogits(ctx, infer.Request{From: s.from, Tokens: s.tokens, Sampling: a.drawing(nil), Adapter: a.way.adapter}, func(stream *infer.Stream) {
		a.d.mu.Lock()
		defer a.d.mu.Unlock()
		a.progress = stream.Progress()
		a.d.publish()
	})
	if err != nil {
		return start{}, err
	}
	a.keepPrompt(end, true)
	return start{from: end}, nil
}

// readLogits reads what a request says and returns the state after it, with
// its logits. progress may be nil.
func (d *Dialogue) readLogits(ctx context.Context, r infer.Request, progress func(*infer.Stream)) (*infer.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	r.Label = d.conv.Title
	d.mu.Unlock()
	r.Logits = true
	stream, err := d.desk.engine.Submit(r)
	if err != nil {
		return nil, err
	}
	stopped := ctx.Done()
	for {
		select {
		case <-stream.Changed():
			if progress != nil {
				progress(stream)
			}
		case <-stopped:
			stopped = nil
			stream.Cancel()
		case <-stream.Done():
			end := stream.Ending()
			switch {
			case end.Err != nil:
				return nil, end.Err
			case end.Reason == infer.ReasonCancelled:
				return nil, context.Canceled
			}
			return end.Snapshot, nil
		}
	}
}

// finishRow puts one answer of several into the tree.
func (d *Dialogue) finishRow(a *answer, end infer.Ending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.best
	b.running = slices.DeleteFunc(b.running, func(r *answer) bool { return r == a })
	if d.run = nil; len(b.running) > 0 {
		d.run = b.running[0]
	}
	switch {
	case a.dropped:
		d.drop([]ID{a.turn.ID})
	case a.worthKeeping(end):
		d.keepAnswer(a, end)
		if b.leads(a.turn.ID, d.conv.Head) {
			d.goOnFrom(a.turn.ID)
		}
		d.commitAnswer(a.turn.ID, end.Snapshot)
	default:
		b.forget(a.turn.ID)
	}
	if len(b.running) == 0 && (b.chosen || len(b.rows) == 0) {
		d.best = nil
	}
	d.ended(end)
}

// leads says whether the head goes to a row that has ended: before Keep to the
// first of those that are there, afterwards to the one that was chosen.
func (b *best) leads(row, head ID) bool {
	if b.lead != 0 {
		return row == b.lead
	}
	at := slices.Index(b.rows, head)
	return at < 0 || slices.Index(b.rows, row) < at
}

func (b *best) forget(row ID) {
	b.rows = slices.DeleteFunc(b.rows, func(id ID) bool { return id == row })
}

// rows are what a view shows of several answers, until they were chosen from.
// The caller holds mu.
func (d *Dialogue) rows() []Row {
	b := d.best
	if b == nil || b.chosen {
		return nil
	}
	rows := make([]Row, 0, len(b.rows))
	for _, id := range b.rows {
		if i := slices.IndexFunc(b.running, func(a *answer) bool { return a.turn.ID == id }); i >= 0 {
			rows = append(rows, Row{Live: *b.running[i].live()})
			continue
		}
		if n := d.tree.nodes[id]; n != nil {
			t := n.turn
			rows = append(rows, Row{
				Live:  Live{Turn: t, Text: t.Text, Progress: infer.Progress{Generated: t.Usage.Generated}, Started: t.Created},
				Ended: true, Reason: t.Reason, Open: t.Open,
			})
		}
	}
	return rows
}
