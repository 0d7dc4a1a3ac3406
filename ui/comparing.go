package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/infer/adapter"
	"rookery/infer/tokenizer"
	"rookery/ui/kit"
)

// A compareDialogue is the part of a dialogue that answers in several ways.
type compareDialogue interface {
	Compare(variants []chat.Variant) error
	SendCompare(text string, variants []chat.Variant) error
	Variant() chat.Variant
	FirstDifference(row, other chat.Alternative) compare.Difference
	Vote(winner turn.ID) error
	ScoreTurns(ctx context.Context, answers []turn.ID, reference chat.Variant) ([]compare.Score, error) // blocks
}

func (opening) Vote(turn.ID) error { return errOpening }
func (opening) ScoreTurns(context.Context, []turn.ID, chat.Variant) ([]compare.Score, error) {
	return nil, errOpening
}
func (opening) Compare([]chat.Variant) error             { return errOpening }
func (opening) SendCompare(string, []chat.Variant) error { return errOpening }
func (opening) Variant() chat.Variant                    { return chat.Variant{} }
func (opening) FirstDifference(chat.Alternative, chat.Alternative) compare.Difference {
	return compare.Difference{}
}

// A compareWorkspace is what comparisons need of the workspace. What takes a context
// blocks and is called in commands only.
type compareWorkspace interface {
	LoadSecondModel(ctx context.Context, path string, progress func(done, total int64)) (*chat.SecondModel, error)
	ForkAlternatives(d dialogue, rows []turn.ID) ([]dialogue, error)
	Votes(ctx context.Context) ([]turn.Vote, error)
}

func (k chatWorkspace) ForkAlternatives(d dialogue, rows []turn.ID) ([]dialogue, error) {
	c, ok := d.(*chat.Dialogue)
	if !ok {
		return nil, errOpening
	}
	forks, err := k.Workspace.ForkAlternatives(c, rows...)
	all := make([]dialogue, len(forks))
	for i, f := range forks {
		all[i] = f
	}
	return all, err
}

// A compareMsg brings something for a comparison, and takes itself over.
type compareMsg interface{ take(m *Model) tea.Cmd }

// compareAnswers sets up a comparison of answers to a prompt: the argument's,
// what is in the composer, or the last one. Answers that still wait to be
// chosen from are shown.
func (m *Model) compareAnswers(prompt string) tea.Cmd {
	t := m.tab()
	if rows := t.view.Alternatives; len(rows) > 0 {
		if rows[0].Variant.Name == "" {
			m.OpenDialog(newGrid(t))
			return nil
		}
		asked := make([]chat.Variant, len(rows))
		for i, r := range rows {
			asked[i] = r.Variant
		}
		m.OpenDialog(newComparison(t, m.tokenizer(), asked, false))
		return nil
	}
	s := newSetup(m, t)
	if written := t.composer.Text(); prompt == "" && !t.composer.Editing() && !strings.HasPrefix(written, "/") {
		prompt, s.written = written, written != ""
	}
	s.prompt = prompt
	m.OpenDialog(s)
	return func() tea.Msg {
		states, err := m.workspace.States(m.ctx)
		adapters, failed := m.workspace.Adapters(m.ctx)
		models, wrong := m.otherModels()
		return choicesMsg{s, states, adapters, models, errors.Join(err, failed, wrong)}
	}
}

// awaited is what the topmost dialog asks for after a look at what is new.
func (m *Model) awaited() tea.Cmd {
	if n := len(m.dialogs); n > 0 {
		if d, ok := m.dialogs[n-1].(kit.Looker); ok {
			return d.Look(m)
		}
	}
	return nil
}

// Look takes over what has come.
func (c *comparison) Look(h kit.Host) tea.Cmd {
	c.sync()
	return c.await(h.(*Model))
}

// tokenizer is that of the model, or nil.
func (m *Model) tokenizer() *tokenizer.Tokenizer {
	if m.model == nil {
		return nil
	}
	return m.model.Tokenizer
}

// choicesMsg brings what variants can be made of.
type choicesMsg struct {
	s        *setup
	states   []turn.State
	adapters []turn.RegisteredAdapter
	models   []ModelFile
	err      error
}

func (msg choicesMsg) take(m *Model) tea.Cmd {
	s := msg.s
	s.states, s.adapters, s.models, s.loaded = msg.states, msg.adapters, msg.models, true
	next := s.next
	if s.next = nil; next != nil {
		s.said = ""
	}
	switch {
	case msg.err != nil:
		s.said = kit.OneLine(msg.err.Error())
	case next != nil && kit.OnTop(m, s):
		return next(m)
	}
	return nil
}

// compareNow starts what a setup says; other models are loaded if a person agreed.
type compareNow struct {
	s      *setup
	agreed bool
	batch  *batchFiles // of prompts that are answered instead; may be nil
}

func (i compareNow) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	s := i.s
	if s.busy {
		return nil
	}
	if i.batch == nil && s.prompt == "" && m.tab().empty() {
		s.said = "There is no prompt yet."
		return askPrompt{s}.do(m)
	}
	others := otherModels(s.drafts)
	if len(others) > 0 && !i.agreed {
		return askLoad{i, others}.do(m)
	}
	ctx, cancel := context.WithCancel(m.ctx)
	s.busy, s.said, s.cancel = true, "Loading what the variants need.", cancel
	drafts := slices.Clone(s.drafts)
	load := func() tea.Msg {
		defer cancel()
		variants, err := prepared(ctx, m.workspace, drafts, func(said string) { s.loading.Store(&said) })
		return preparedMsg{i, variants, err}
	}
	return tea.Batch(load, m.after(progressEvery, loadTickMsg{s}))
}

// prepared makes variants of drafts: it loads their models, which the caller
// releases, and adapters. After an error nothing is held.
func prepared(ctx context.Context, k workspace, drafts []draft, say func(string)) ([]chat.Variant, error) {
	variants := namedVariants(drafts)
	err := loadModels(ctx, k, drafts, variants, say)
	if err == nil {
		err = loadAdapters(ctx, k, variants)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		releaseModels(variants)
	}
	return variants, err
}

// loadAdapters finds the adapters that are known by name alone, each for the
// model of its variant.
func loadAdapters(ctx context.Context, k adapterWorkspace, variants []chat.Variant) error {
	for i := range variants {
		a := &variants[i].Adapter
		if a.Name == "" || a.Fingerprint != "" {
			continue
		}
		find := k.TakeAdapter
		if g := variants[i].Model; g != nil {
			find = g.Adapters().Find
		}
		found, err := find(ctx, a.Name, adapter.Options{})
		if err != nil {
			return fmt.Errorf("variant %q: %w", variants[i].Name, err)
		}
		*a = found
	}
	return nil
}

// preparedMsg says that a comparison can begin, or why not.
type preparedMsg struct {
	now      compareNow
	variants []chat.Variant
	err      error
}

func (msg preparedMsg) take(m *Model) tea.Cmd {
	s, t, batch := msg.now.s, msg.now.s.tab, msg.now.batch
	s.busy, s.said, s.cancel = false, "", nil
	m.uncover(s)
	closed := !kit.OnTop(m, s)
	if msg.err == nil && (closed || batch == nil) {
		defer releaseModels(msg.variants) // the comparison holds what it needs
	}
	if closed {
		return nil
	}
	err := msg.err
	switch {
	case err != nil:
	case batch != nil:
		m.compared = s.remembered()
		s.leavePrompt(m)
		return m.startBatch(*batch, msg.variants)
	case s.prompt == "":
		err = t.d.Compare(msg.variants)
	default:
		err = t.d.SendCompare(s.prompt, msg.variants)
	}
	if err != nil {
		s.said = kit.OneLine(err.Error())
		return nil
	}
	m.compared = s.remembered()
	m.CloseDialog()
	if s.prompt != "" {
		if s.written {
			t.composer.Clear()
			m.edited()
		}
		m.history.Add(s.prompt)
		m.saveLayout()
	}
	t.transcript.ScrollToEnd()
	cmd := tea.Batch(m.look(), m.tick())
	m.OpenDialog(newComparison(t, m.tokenizer(), msg.variants, s.blind))
	return cmd
}

// lastPrompt is the prompt that would be answered again.
func (t *tab) lastPrompt() (turn.Turn, bool) {
	for _, tn := range slices.Backward(t.view.Turns) {
		if tn.Role == turn.RoleUser {
			return tn, true
		}
	}
	return turn.Turn{}, false
}
