package chat

import (
	"context"
	"fmt"
	"slices"

	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/replay"
	"rookery/chat/turn"
	"rookery/infer"
)

// path is the turns from the first to one. The caller holds mu.
func (d *Dialogue) path(to turn.ID) []turn.Turn {
	line := d.tree.line(to)
	path := make([]turn.Turn, len(line))
	for i, n := range line {
		path[i] = n.turn
	}
	return path
}

// lookFrom is what finds the states along the line to a turn, of the
// conversation's own state alone. The caller holds mu.
func (d *Dialogue) lookFrom(to turn.ID) *answer {
	w := d.settings()
	w.mix = turn.Mix{}
	return &answer{d: d, template: d.template(), rendering: d.rendering(), base: d.conv.Base, path: d.path(to), settings: w, prompted: true}
}

// ownTurn is the answer as it was before it goes on, or as it is looked at; nil
// for a new one.
func (a *answer) ownTurn() *turn.Turn {
	if a.resumed != nil {
		return a.resumed
	}
	return a.seen
}

// findBeginning is the history of the answer's line before its first token. The
// line begins where the history of the nearest turn does; without any, it begins
// from the base of the answer's way.
func (a *answer) findBeginning(turns []turn.Turn) turn.History {
	for _, t := range slices.Backward(turns[:max(len(turns)-a.anew, 0)]) {
		if t.History.Known(a.template.Model) {
			return t.History.Prefix(0)
		}
	}
	return turn.History{Model: a.template.Model, Base: a.settings.base, Kind: a.settings.baseKind}
}

// buildLine makes the answer's line of its path and, for an answer that goes on or
// is looked at, its own tokens.
func (a *answer) buildLine(own []int32) *replay.Line {
	of, turns := a.ownTurn(), a.path
	if of != nil {
		turns = append(slices.Clone(turns), *of)
	}
	begins := a.findBeginning(turns)
	tokens := lineTokens(a.template, a.path, a.rendering, a.base, begins)
	if of != nil {
		tokens = append(tokens, own)
	}
	return replay.NewLine(begins, turns, tokens, of != nil)
}

// lineTokens is what a line reads of each turn of its path. The turns' tokens are
// for a line from one base; from another one the first turn has another opening.
func lineTokens(t prompt.Template, path []turn.Turn, r prompt.Rendering, own turn.ID, begins turn.History) [][]int32 {
	now := r
	if begins.Base != own {
		if now.Begins = (library.Base{Kind: begins.Kind}).Beginning(); now.Begins == prompt.AfterText {
			now.System = "" // as for conversations that begin from it, see setBase
		}
	}
	tokens := make([][]int32, len(path))
	for i, tn := range path {
		if i == 0 && begins.Base != own {
			tn = t.ReopenTurn(tn, r, now)
		}
		tokens[i] = t.TurnTokens(tn, now)
	}
	return tokens
}

// lineLen is how many tokens a line with a history reads up to a turn. The
// caller holds mu.
func (d *Dialogue) lineLen(to turn.ID, h turn.History) (n int) {
	for _, tokens := range lineTokens(d.template(), d.path(to), d.rendering(), d.conv.Base, h) {
		n += len(tokens)
	}
	return n
}

// A route is a plan all of whose adapters are loaded.
type route struct {
	replay.Plan
	text  []int32 // to be read before the line: a base's, whose state is of no use any more
	named bool    // what From has read has a name, if one adapter has read it
}

// planRoute plans how to reach the state where the answer begins. own are its
// tokens, of one that goes on or is looked at; within, if it is not nil, is a state
// that has read so many of them. Where an adapter is missing and a person wants to
// go on all the same, the adapter in use reads what must be read again.
func (a *answer) planRoute(ctx context.Context, own []int32, within *infer.Snapshot, read int) (route, error) {
	r, err := a.tryPlan(ctx, own, within, read)
	if a.goOnWithout(err) {
		r, err = a.tryPlan(ctx, own, within, read)
	}
	return r, err
}

// tryPlan plans a route and loads its adapters.
func (a *answer) tryPlan(ctx context.Context, own []int32, within *infer.Snapshot, read int) (r route, err error) {
	l := a.buildLine(own)
	a.setLine(l)
	wanted, use := l.History(l.Len()-1-min(a.anew, l.Len())), a.adapterInUse()
	switch from := a.snapshots(ctx); {
	case within != nil:
		r.Plan = l.Within(within, l.Prompt()+read, wanted)
	case a.forced:
		r.Plan = l.Plan(l.Plan(wanted, use, from).History, use, from)
	default:
		r.Plan = l.Plan(wanted, use, from)
	}
	if r.From == nil {
		r.From, r.text, err = a.loadBeginning(ctx, wanted.Base)
		r.named = len(r.text) == 0
	} else {
		r.named = r.From.Prefix != infer.Prefix{}
	}
	if err == nil {
		err = ctx.Err()
	}
	for _, p := range r.Reads {
		if err == nil {
			err = a.needAdapter(ctx, p)
		}
	}
	return r, err
}

// setLine remembers the line, which what is read is named and told by.
func (a *answer) setLine(l *replay.Line) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.line = l
}

// adapterInUse is the adapter in use: it may be changed at any time.
func (a *answer) adapterInUse() turn.Run {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return turn.Run{Adapter: a.settings.adapter, Name: a.settings.adapterName}
}

// snapshots is where the answer's plans find states.
func (a *answer) snapshots(ctx context.Context) replay.Snapshots {
	return replay.Snapshots{
		Kept: func(at int) *infer.Snapshot {
			switch {
			case at == len(a.path):
				return a.findSnapshot(ctx, a.ownTurn().ID)
			case at == len(a.path)-1 && a.skipsPrompt:
				return nil
			}
			return a.findSnapshot(ctx, a.path[at].ID)
		},
		Named:  func(prefixes []infer.Prefix) (*infer.Snapshot, int) { return a.findNamed(ctx, prefixes) },
		Origin: a.origin,
	}
}

// findSnapshot is the snapshot of a turn as this answer can go on from it, or nil. One
// that is damaged or of another model costs time and is no error.
func (a *answer) findSnapshot(ctx context.Context, id turn.ID) *infer.Snapshot {
	model := a.model()
	if s := a.fits(a.d.tree.held(id)); usable(s, model) {
		return s
	}
	if ctx.Err() != nil {
		return nil
	}
	s, err := a.d.saver.Snapshot(ctx, id)
	if err != nil || !usable(s, model) {
		return nil
	}
	a.d.tree.hold(id, s)
	return a.fits(s)
}

// A prefixFinder is a Store that finds snapshots by what they have read.
type prefixFinder interface {
	// SnapshotReading returns a snapshot that has read what one of the prefixes
	// names, the first of them that there is, and its place in the list; nil if
	// there is none.
	SnapshotReading(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int, error)
}

// findNamed looks for the first of the prefixes in memory and in the store.
func (a *answer) findNamed(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int) {
	var found *infer.Snapshot
	at := len(prefixes)
	for i, p := range prefixes {
		if found = a.d.workspace.memory.Find(p); found != nil {
			at = i
			break
		}
	}
	if f, ok := a.d.workspace.store.(prefixFinder); ok && at > 0 {
		if stored, i, err := f.SnapshotReading(ctx, prefixes[:at]); err == nil && stored != nil {
			found, at = stored, i
		}
	}
	if found = a.fits(found); !usable(found, a.model()) {
		return nil, 0
	}
	return found, at
}

// origin is the prefix of the answer's line before its first token, read with
// one adapter alone.
func (a *answer) origin(adapter string) infer.Prefix {
	base := a.line.History(-1).Base.String() + "\n" + adapter
	if a.settings.mix.Active() {
		base += "\n" + a.settings.mix.Key()
	}
	return infer.PrefixFrom(a.model(), base)
}

// loadBeginning is where a line begins: the base state and what is read before the
// first turn.
func (a *answer) loadBeginning(ctx context.Context, id turn.ID) (*infer.Snapshot, []int32, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var from *infer.Snapshot
	var text []int32
	if id != 0 {
		s, err := a.d.workspace.library.Get(ctx, id)
		switch {
		case err == nil:
			from, text, err = library.BeginFrom(s, a.model())
		case id != a.settings.base: // as the line of a variant does that was chosen
			return nil, nil, &MissingError{
				First: 1, Last: len(a.path), What: "were read from a state that is not in the library any more", WayOut: "import it again",
				Now: "from the conversation's own", Err: err, base: true,
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the state that the conversation begins from: %w", err)
		}
	}
	from, err := a.mixed(ctx, from)
	return from, text, err
}

// noteSwap lets the view say that the line is read again because the weights
// under it are others now.
func (a *answer) noteSwap(p replay.Plan) {
	last := a.resumed
	if n := len(a.path); last == nil && n > 1 {
		last = &a.path[n-2]
	}
	if a.settings.second != nil || last == nil || last.Model == "" || last.Model == a.template.Model || p.Pending() == 0 {
		return
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.swapped = last.ModelName
	a.d.publish()
}
