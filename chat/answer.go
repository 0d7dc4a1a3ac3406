package chat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"rookery/chat/compare"
	"rookery/chat/prompt"
	"rookery/chat/replay"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/grammar"
	"rookery/infer/sampler"
)

// An answer is one that is being generated. Its goroutine makes the prompt,
// finds the state, follows the engine's stream and hands the result back to
// the dialogue. Fields below mu belong to the dialogue's mutex.
type answer struct {
	d         *Dialogue
	template  prompt.Template
	rendering prompt.Rendering
	think     turn.ThinkMode
	grammar   *grammar.Grammar // nil leaves the answer free
	formError error            // why the conversation's form cannot be used
	path      []turn.Turn      // the line up to the prompt
	resumed   *turn.Turn       // the answer that goes on; nil for a new one
	past      bool             // go past the stop that ended it
	settings  generation
	base      turn.ID // of the conversation: the turns' tokens are for a line from there
	anew      int     // how many turns at the end of the line are read anew, whoever has read them
	// skipsPrompt says that the prompt's snapshot is of no use: its mix is another one.
	skipsPrompt bool
	header      string // what the prompt gave of the answer
	prompted    bool   // the state after the prompt is kept, or is not to be
	started     time.Time
	cancel      context.CancelFunc
	variant     Variant    // of several answers: what was asked for
	seen        *turn.Turn // an answer whose tokens are looked at
	forced      bool       // all that is read again is read with the adapter in use

	// under d.mu, as are the adapter of settings and its name
	line      *replay.Line // as it was planned last
	begun     start        // of the running request
	told      turn.History // what the journal says of how it was read
	turn      turn.Turn    // as begun: of an answer that goes on, with what it has
	text      strings.Builder
	unseen    []infer.Token // drawn before the first text
	journaled bool
	drawn     []infer.Token // since it was begun or went on; grows by appending only
	progress  infer.Progress
	swapped   string      // Live.Swapped
	replaced  string      // Live.Replaced
	cost      infer.Usage // of readAgain
	sampling  sampler.Params
	stream    *infer.Stream
	ban       []int32 // of the running request alone
	stopping  bool
	first     time.Duration     // from started to the first token; 0 before
	agreed    compare.Agreement // with the first of several answers
	dropped   bool              // not to be kept when it has ended, see Keep
	unsaved   bool              // the prompt has no tokens yet and is not on its way to the store
}

// answer starts a new answer to a prompt. The caller holds mu.
func (d *Dialogue) answer(prompt *node, seed uint64) {
	p := d.conv.Sampling
	p.Seed = seed
	d.begin(&answer{
		turn: turn.Turn{ID: turn.NewID(), Parent: prompt.turn.ID, Role: turn.RoleAssistant, Sampling: p, Created: time.Now()},
	})
}

// goOn continues an answer. The caller holds mu.
func (d *Dialogue) goOn(head *node) {
	resumed := head.turn // the tree's may be marked while the answer is prepared
	a := &answer{turn: resumed, resumed: &resumed, past: !resumed.Open}
	a.turn.Sampling = d.conv.Sampling
	a.turn.Sampling.Seed = head.turn.Sampling.Seed
	if len(head.children) > 0 {
		a.turn.ID, a.turn.Created = turn.NewID(), time.Now()
	}
	a.text.WriteString(head.turn.Text)
	d.begin(a)
}

// begin runs an answer; after Shut only as far as its prompt is saved.
func (d *Dialogue) begin(a *answer) {
	ctx := d.prime(a)
	d.run = a
	if d.closed {
		d.stop()
	}
	d.reline()
	d.work.Go(func() {
		defer a.cancel()
		end := a.generate(ctx)
		end.Snapshot = a.nameEnding(end)
		d.finish(a, end)
	})
}

// prime gives an answer what it needs of the dialogue. The caller holds mu and
// calls a.cancel when the answer has ended.
func (d *Dialogue) prime(a *answer) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	a.d, a.cancel, a.started = d, cancel, time.Now()
	a.template, a.rendering, a.think = d.template(), d.rendering(), d.conv.Think
	a.path, a.base, a.turn.ModelName = d.path(a.turn.Parent), d.conv.Base, a.template.ModelName
	if a.grammar, a.formError = d.grammar(); a.grammar != nil && a.think != turn.ThinkOff {
		a.think = turn.ThinkFast // a thought would have to keep to the form
	}
	a.useSettings(d.settings(), d.settings())
	a.sampling = a.turn.Sampling
	a.unsaved = len(a.path[len(a.path)-1].Tokens) == 0
	return ctx
}

// stop ends the answer with what it has. The caller holds mu.
func (a *answer) stop() {
	a.stopping = true
	a.cancel()
	if a.stream != nil {
		a.stream.Cancel()
	}
}

// live is what a view shows of the answer. The caller holds mu.
func (a *answer) live() *Live {
	return &Live{Turn: a.turn, Text: a.text.String(), Progress: a.progress, Started: a.started, Drawn: a.drawn, Swapped: a.swapped, Replaced: a.replaced}
}

// generate makes the answer. Its ending is of everything that was drawn since begin.
func (a *answer) generate(ctx context.Context) infer.Ending {
	a.prepare()
	s, err := a.findStart(ctx)
	switch {
	case ctx.Err() != nil:
		return infer.Ending{Reason: infer.ReasonCancelled}
	case err != nil:
		return infer.Ending{Reason: infer.ReasonError, Err: err}
	}
	end := a.draw(ctx, s)
	if end.Usage.Generated > 0 {
		end.Usage.FirstToken += a.cost.ReadTime
	}
	end.Usage = addUsage(a.cost, end.Usage)
	return end
}

// draw makes the answer from where it begins.
func (a *answer) draw(ctx context.Context, s start) infer.Ending {
	if !a.past && a.resumed == nil && a.opensThought() {
		return a.drawThinking(ctx, s)
	}
	if !a.past {
		return a.follow(ctx, s, a.d.workspace.settings().MaxTokens, nil)
	}
	// The first token alone, without those that would stop at once again, or
	// make one word of the last one and the next.
	ban := a.template.StopTokens(a.d.workspace.stops(a.template))
	first := a.follow(ctx, s, 1, append(ban, a.template.GluedTokens(a.turn.Text)...))
	if first.Reason != infer.ReasonLength || first.Snapshot == nil {
		return first
	}
	limit := a.d.workspace.settings().MaxTokens
	if limit == 1 {
		return first
	}
	rest := a.follow(ctx, a.startBehind(s, first), max(limit-1, 0), nil)
	return joinEndings(first, rest)
}

// startBehind is startAfter of an ending.
func (a *answer) startBehind(s start, end infer.Ending) start {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return a.startAfter(s, end.Snapshot)
}

// joinEndings is the ending of two requests, one behind the other.
func joinEndings(first, rest infer.Ending) infer.Ending {
	rest.Tokens = slices.Concat(first.Tokens, rest.Tokens)
	rest.Usage = addUsage(first.Usage, rest.Usage)
	if rest.Snapshot == nil {
		rest.Snapshot = first.Snapshot
	}
	return rest
}

// prepare makes the prompt's tokens where there are none of this tokenizer,
// and saves it.
func (a *answer) prepare() {
	prompt, own := &a.path[len(a.path)-1], a.d.template()
	fresh := len(prompt.Tokens) == 0 || !own.OwnsTokens(*prompt)
	if fresh {
		a.spell(prompt, own)
	}
	tokens := prompt.Tokens
	if a.settings.second != nil { // it reads the prompt in its own way, which nobody else does
		a.path = slices.Clone(a.path)
		heard := &a.path[len(a.path)-1]
		a.spell(heard, a.template)
		tokens = heard.Tokens
	}
	header := strings.TrimLeft(a.template.FindHeader(tokens), " ")
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.header = header
	switch {
	case a.resumed == nil:
		a.text.WriteString(a.header)
	case !a.template.OwnsTokens(a.turn):
		a.turn.Tokens = a.template.EncodeAnswer(a.turn.Text)
	}
	a.turn.Model = a.template.Model
	if fresh {
		n := a.d.tree.nodes[prompt.ID]
		prompt.Label, prompt.Pinned = n.turn.Label, n.turn.Pinned // may have been marked meanwhile
		n.turn = *prompt
		a.d.tree.hold(prompt.ID, nil)
		a.d.saver.Commit(a.d.conv, *prompt, nil)
		a.unsaved = false
		a.d.reline()
	}
}

// spell makes the prompt's tokens for a template.
func (a *answer) spell(prompt *turn.Turn, t prompt.Template) {
	prompt.Tokens = nil
	*prompt = t.FillTokens(*prompt, a.rendering, a.think)
}

// follow submits a request and copies what it gives to the dialogue until it ends.
func (a *answer) follow(ctx context.Context, s start, limit int, ban []int32) infer.Ending {
	stream, err := a.submit(ctx, s, limit, ban)
	if err != nil {
		return unstarted(err)
	}
	return a.watch(ctx, stream)
}

// unstarted is the ending of an answer that did not come to the engine.
func unstarted(err error) infer.Ending {
	if errors.Is(err, context.Canceled) {
		return infer.Ending{Reason: infer.ReasonCancelled}
	}
	return infer.Ending{Reason: infer.ReasonError, Err: err}
}

// watch copies what a stream gives to the dialogue until it ends.
func (a *answer) watch(ctx context.Context, stream *infer.Stream) infer.Ending {
	stopped := ctx.Done()
	for done := false; !done; {
		select {
		case <-stream.Changed():
		case <-stream.Done():
			done = true
		case <-stopped:
			stopped = nil
			stream.Cancel()
		}
		a.keepPromptOf(stream)
		a.grow(stream)
	}
	return stream.Ending()
}

// submit gives the request to the engine, unless it was stopped before.
func (a *answer) submit(ctx context.Context, s start, limit int, ban []int32) (*infer.Stream, error) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	adapter := a.settings.adapter
	if a.formError != nil {
		return nil, a.formError
	}
	stream, err := a.host().engine.Submit(infer.Request{
		Grammar: a.grammar, Begun: a.turn.Tokens[:max(0, len(a.turn.Tokens)-len(s.replay))],
		From: s.requestFrom(adapter), Tokens: s.tokens, Replay: s.replay, Sampling: a.drawing(ban),
		MaxTokens: limit, Stops: a.d.workspace.stops(a.template), Label: a.d.conv.Title, Adapter: adapter, AnyAdapter: true,
	})
	a.begun, a.stream, a.ban = s, stream, ban
	return stream, err
}

// drawing adds bans, and the family's, to what a person chose.
func (a *answer) drawing(ban []int32) sampler.Params {
	p := a.sampling
	p.Ban = slices.Concat(p.Ban, a.template.BannedTokens(), ban)
	return p
}

// setSampling changes the parameters; the answer keeps its seed. The caller holds mu.
func (a *answer) setSampling(p sampler.Params) {
	p.Seed = a.turn.Sampling.Seed
	a.sampling = p
	if a.stream != nil {
		a.stream.SetSampling(a.drawing(a.ban))
	}
}

// grow takes what the stream has.
func (a *answer) grow(stream *infer.Stream) {
	text, tokens := stream.Read()
	progress := stream.Progress()
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	progress.Read, progress.ToRead = progress.Read+a.cost.Read, progress.ToRead+a.cost.Read
	if a.stopping && !a.journaled && a.resumed == nil {
		return // the step that ran when it was stopped: nothing had been seen yet
	}
	if a.text.Len() == 0 && a.resumed == nil {
		text = strings.TrimPrefix(text, " ") // the one after "Assistant:"
	}
	a.amend() // before the tokens since: a kill between the two finds nothing that another adapter has read
	a.journal(tokens, text)
	a.drawn = append(a.drawn, tokens...)
	if a.first == 0 && len(tokens) > 0 {
		a.first = time.Since(a.started)
	}
	a.text.WriteString(text)
	a.progress = progress
	a.d.publish()
}

// journal saves what is new. It begins with the first text: tokens that show
// nothing are worth nothing by themselves. The caller holds mu.
func (a *answer) journal(tokens []infer.Token, text string) {
	if !a.journaled {
		a.unseen = append(a.unseen, tokens...)
		if text == "" {
			return
		}
		t := a.turn
		t.Text, t.History = a.text.String(), a.readSoFar()
		a.told = t.History
		a.d.saver.BeginJournal(t)
		a.journaled, tokens, a.unseen = true, a.unseen, nil
	}
	a.d.saver.AppendJournal(a.turn.ID, tokens, text)
}

// amend lets the journal say that another adapter reads since a token. The
// caller holds mu.
func (a *answer) amend() {
	t := a.turn
	t.History = a.readSoFar()
	if a.journaled && !slices.Equal(t.History.Runs, a.told.Runs) {
		a.told = t.History
		a.d.saver.AmendJournal(t)
	}
}
