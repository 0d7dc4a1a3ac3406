package panel

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/infer/adapter"
	"rookery/ui/kit"

	"rookery/chat"
	"rookery/chat/turn"
)

// An adapterJob is something that is done with adapters and takes time.
type adapterJob struct {
	wish  *chat.Dialogue // whose adapter it chooses; nil: it chooses none
	doing string         // for people, or empty
	work  func(ctx context.Context, r *library.AdapterRegistry) (adapterResult, error)
	// overtaken says that the conversation has none since: what the job brings is
	// not used.
	overtaken bool
}

// adapterJobs are what is being done and what waits for it. One thing is done at a
// time. A conversation has one wish that waits: the last one.
type adapterJobs struct {
	running *adapterJob
	waiting []*adapterJob
}

// add puts a job behind the others. A wish takes the place of one that waits.
func (q *adapterJobs) add(j *adapterJob) {
	if j.wish != nil {
		q.forgetWish(j.wish)
	}
	q.waiting = append(q.waiting, j)
}

// overtake takes back all wishes of a conversation, that which is being carried out
// too.
func (q *adapterJobs) overtake(d *chat.Dialogue) {
	q.forgetWish(d)
	if r := q.running; r != nil && r.wish == d {
		r.overtaken = true
	}
}

func (q *adapterJobs) forgetWish(d *chat.Dialogue) {
	q.waiting = slices.DeleteFunc(q.waiting, func(j *adapterJob) bool { return j.wish == d })
}

// hasWish says whether a wish of a conversation waits.
func (q *adapterJobs) hasWish(d *chat.Dialogue) bool {
	return slices.ContainsFunc(q.waiting, func(j *adapterJob) bool { return j.wish == d })
}

// isBusyFor says whether a wish of a conversation waits or is being carried out.
func (q *adapterJobs) isBusyFor(d *chat.Dialogue) bool {
	return d != nil && (q.hasWish(d) || q.running != nil && q.running.wish == d && !q.running.overtaken)
}

// do does a job after those before it.
func (p *Adapters) do(h kit.Host, j adapterJob) tea.Cmd {
	p.jobs.add(&j)
	return p.startNext(h)
}

// startNext begins the job that waits longest, unless one is being done.
func (p *Adapters) startNext(h kit.Host) tea.Cmd {
	if p.jobs.running != nil || len(p.jobs.waiting) == 0 {
		return nil
	}
	j := p.jobs.waiting[0]
	p.jobs.running, p.jobs.waiting = j, p.jobs.waiting[1:]
	ctx, r := h.Context(), h.Workspace().Adapters()
	return kit.Await(func() (adapterResult, error) { return j.work(ctx, r) }, func(h kit.Host, r adapterResult, err error) tea.Cmd {
		p.jobs.running = nil
		p.listed = time.Time{} // it has changed
		cmd := p.end(h, j, r, err)
		return tea.Batch(cmd, p.startNext(h), h.Refresh())
	})
}

// end gives an adapter to the conversation that it is for and tells what has become
// of it.
func (p *Adapters) end(h kit.Host, j *adapterJob, r adapterResult, err error) tea.Cmd {
	if j.overtaken || err != nil && j.wish != nil && p.jobs.hasWish(j.wish) {
		return nil // something else is wanted by now
	}
	var q *adapter.QuestionError
	if errors.As(err, &q) && r.file.name != "" {
		p.ask(h, j.wish, r, q)
		return nil
	}
	if err == nil && j.wish != nil {
		err = p.setAdapter(j.wish, r.a)
	}
	switch loaded := r.file.name != ""; {
	case err == nil && loaded:
		p.GoTo(r.a)
	case err != nil && r.typed && h.Tab().Prompt().Text() == "" && len(h.Dialogs()) == 0:
		h.Tab().Prompt().Fill("/adapter " + r.file.name) // to be put right
	}
	if j.wish == nil {
		return kit.Report(h, r.said, err)
	}
	if j.wish == p.dialogue && !p.jobs.hasWish(j.wish) {
		delete(p.strengths, keyOf(r.a)) // the slider shows what the engine runs
		if p.chosen = keyOf(r.a); err != nil {
			p.chosen = ""
		}
	}
	if err == nil && len(p.jobs.waiting) == 0 {
		p.tidy(r.a)
	}
	return kit.Report(h, r.said, err)
}

// setAdapter gives a conversation an adapter, or none.
func (p *Adapters) setAdapter(d *chat.Dialogue, a turn.Adapter) error {
	err := d.SetAdapter(a)
	if err == nil && a.Fingerprint != "" {
		p.given[a.Fingerprint] = a
	}
	return err
}

// tidy drops an adapter at strengths that nobody uses any more, in turn with other
// jobs, so that it drops nothing that was just loaded. What stays is dropped another
// time.
func (p *Adapters) tidy(a turn.Adapter) {
	p.jobs.add(&adapterJob{work: func(ctx context.Context, r *library.AdapterRegistry) (adapterResult, error) {
		return adapterResult{}, r.Tidy(ctx, a)
	}})
}
