package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
)

// How many variants are compared at most, and at least.
const (
	MinCompare = 2
	MaxCompare = 8
)

// Compare answers the last prompt again, once in the way of each variant. All
// answers are rows of the same steps; variants that read the same share what
// they read. View.Best has a Row for each, in the order of the variants, until
// Keep, or going on otherwise, ends the comparison; every answer is journaled
// and stored as a sibling meanwhile. A running comparison is stopped by Stop,
// and does not follow what is set for the conversation while it runs.
func (d *Dialogue) Compare(variants []Variant) error {
	return d.act("compare", func() error {
		last := d.tree.prompt(d.conv.Head)
		if last == nil {
			return ErrNothing
		}
		held, err := d.checkCompare(variants)
		if err != nil {
			return err
		}
		d.compare(last, variants, true)
		d.choice.secondModels = held
		return nil
	})
}

// SendCompare is Compare with a new user turn below the head.
func (d *Dialogue) SendCompare(text string, variants []Variant) error {
	return d.act(text, func() error {
		held, err := d.checkCompare(variants)
		if err != nil {
			return err
		}
		d.compare(d.prompted(d.conv.Head, text), variants, true)
		d.choice.secondModels = held
		return nil
	})
}

// checkCompare holds the second models among variants that can be compared.
func (d *Dialogue) checkCompare(variants []Variant) ([]*SecondModel, error) {
	if n := len(variants); n < MinCompare || n > MaxCompare {
		return nil, fmt.Errorf("compare from %d to %d variants, not %d", MinCompare, MaxCompare, n)
	}
	for i := range variants {
		if err := variants[i].Check(d.workspace.hostOf(variants[i].Model).engine.Model()); err != nil {
			return nil, err
		}
	}
	return invite(variants)
}

// compare starts an answer to a prompt for each variant. own says that they
// are ways of their own, and not the conversation's. The caller holds mu.
func (d *Dialogue) compare(prompt *node, variants []Variant, own bool) {
	c := &choice{prompt: prompt.turn.ID, before: d.conv, answers: map[turn.ID]*answer{}, compared: own}
	seed := d.nextSeed(prompt)
	ctxs := make([]context.Context, len(variants))
	for i, v := range variants {
		if v.Sampling.Seed == 0 {
			v.Sampling.Seed = seed
		}
		a := &answer{turn: turn.Turn{ID: turn.NewID(), Parent: c.prompt, Role: turn.RoleAssistant, Sampling: v.Sampling, Created: time.Now()}, variant: v}
		ctxs[i] = d.prime(a)
		a.useSettings(v.settings(), d.settings())
		c.rows, c.running, c.answers[a.turn.ID] = append(c.rows, a.turn.ID), append(c.running, a), a
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	d.choice, d.run = c, c.running[0]
	if d.closed {
		d.stop()
	}
	d.reline()
	rows := slices.Clone(c.running)
	d.work.Go(func() {
		defer c.stop()
		d.generateAll(ctx, rows, ctxs)
	})
}

// generateAll makes the prompt, has it read once for all rows that can share
// what was read, and follows the rows. ctx is of reading, ctxs of the rows.
func (d *Dialogue) generateAll(ctx context.Context, rows []*answer, ctxs []context.Context) {
	line := rows[0].path // one for all, so that the prompt is made and saved once
	for _, a := range rows {
		a.path = line
		a.prepare()
	}
	var reading sync.WaitGroup
	for _, group := range together(rows) {
		reading.Go(func() {
			first, start := rows[group[0]], (*answer).readPrompt
			if len(group) == 1 {
				start = (*answer).findStart
			}
			s, err := start(first, ctx)
			for _, i := range group {
				rows[i].takeOver(first)
				d.startRow(ctxs[i], rows[i], s, err)
			}
		})
	}
	reading.Wait()
}

// together groups answers, by their places, that read the same.
func together(rows []*answer) [][]int {
	rows[0].d.mu.Lock() // their adapter may be changed
	defer rows[0].d.mu.Unlock()
	var groups [][]int
	at := map[string]int{}
	for i, a := range rows {
		key := a.settings.stateKey()
		g, ok := at[key]
		if !ok {
			g = len(groups)
			at[key], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// startRow begins one answer of several where its prompt was read, and follows
// it. The engine has it when this returns, so that rows that can begin
// together do.
func (d *Dialogue) startRow(ctx context.Context, a *answer, s start, err error) {
	var stream *infer.Stream
	if err == nil {
		s.from = a.fits(s.from) // of a mix: its own weights
		stream, err = a.submit(ctx, s, d.workspace.settings().MaxTokens, nil)
	}
	d.work.Go(func() {
		defer a.cancel()
		if err != nil {
			d.finishRow(a, unstarted(err))
			return
		}
		end := a.watch(ctx, stream)
		end.Snapshot = a.nameEnding(end)
		d.finishRow(a, end)
	})
}

// readPrompt makes the state after the prompt, from which any number of
// answers can be drawn.
func (a *answer) readPrompt(ctx context.Context) (start, error) {
	s, err := a.findStart(ctx)
	if err != nil || len(s.tokens) == 0 {
		return s, err
	}
	read, adapter := a.cost.Read, a.adapterInUse().Adapter
	end, err := a.readLogits(ctx, infer.Request{
		From: s.requestFrom(adapter), Tokens: s.tokens, Sampling: a.samplingNow(), Adapter: adapter, AnyAdapter: true,
	}, func(stream *infer.Stream) { a.showProgress(stream, read, read+len(s.tokens)) })
	if err != nil {
		return start{}, err
	}
	a.d.mu.Lock()
	s = a.startAfter(s, end)
	a.d.mu.Unlock()
	a.keepPrompt(s)
	return s, nil
}

// takeOver takes over what another answer found out for both.
func (a *answer) takeOver(first *answer) {
	if a == first {
		return
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.prompted, a.line, a.forced, a.replaced = true, first.line, first.forced, first.replaced
}

// readLogits reads what a request says and returns the state after it, with
// its logits. progress may be nil.
func (a *answer) readLogits(ctx context.Context, r infer.Request, progress func(*infer.Stream)) (*infer.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.d.mu.Lock()
	r.Label = a.d.conv.Title
	a.d.mu.Unlock()
	r.Logits = true
	stream, err := a.host().engine.Submit(r)
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

// MaxBest is how many answers Best makes at most.
const MaxBest = 32

// Best generates n answers to the last prompt at once, with consecutive seeds.
// The prompt is read once; the answers are rows of the same steps. They stay
// siblings unless Keep drops some.
func (d *Dialogue) Best(n int) error { return d.BestTurn(0, n) }

// BestTurn is Best of the prompt at or above a turn; 0 is the head.
func (d *Dialogue) BestTurn(id turn.ID, n int) error {
	return d.act("best", func() error {
		last := d.tree.prompt(cmp.Or(id, d.conv.Head))
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

// bestOf compares the conversation's way with itself, under n seeds. The
// caller holds mu.
func (d *Dialogue) bestOf(prompt *node, n int) error {
	if err := checkBest(n); err != nil {
		return err
	}
	variants := make([]Variant, n)
	seed := d.nextSeed(prompt)
	for i := range variants {
		variants[i] = d.variant()
		variants[i].Sampling.Seed = seed + uint64(i)
	}
	d.compare(prompt, variants, false)
	return nil
}
