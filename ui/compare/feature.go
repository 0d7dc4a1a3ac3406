package compare

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A room is what is remembered between actions.
type room struct {
	listModels func(context.Context) ([]kit.ModelFile, error) // blocks; nil: there are none
	last       variants                                       // what was set up last
}

// Feature is the comparison of answers. listModels lists the models that can be
// compared with; it blocks, and may be nil.
func Feature(listModels func(context.Context) ([]kit.ModelFile, error)) kit.Feature {
	r := &room{listModels: listModels}
	return kit.Feature{Actions: map[keys.ID]func(kit.Host, string) tea.Cmd{
		keys.Compare: r.open, keys.Best: best, keys.Votes: showVotes,
	}}
}

// open sets up a comparison of answers to a prompt: the argument's, what is in
// the composer, or the last one. Answers that still wait to be chosen from are
// shown.
func (r *room) open(h kit.Host, prompt string) tea.Cmd {
	t := h.Tab()
	if len(t.View().Alternatives) > 0 {
		return showAlternatives(h)
	}
	s := newSetup(r, h)
	if written := writtenPrompt(t); prompt == "" {
		prompt, s.written = written, written != ""
	}
	s.prompt = prompt
	h.OpenDialog(s)
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() (choices, error) { return r.readChoices(ctx, w) }, s.takeChoices)
}

// writtenPrompt is the new prompt in the composer, if there is one.
func writtenPrompt(t kit.Tab) string {
	if text := t.Prompt().Text(); !t.Prompt().Editing() && !strings.HasPrefix(text, "/") {
		return text
	}
	return ""
}

// showAlternatives shows the answers that wait to be chosen from.
func showAlternatives(h kit.Host) tea.Cmd {
	rows := h.Tab().View().Alternatives
	if len(rows) == 0 {
		return nil
	}
	asked := make([]chat.Variant, len(rows))
	for i, r := range rows {
		asked[i] = named(r.Variant)
	}
	c := newComparison(h, asked, false)
	c.oneVariant = rows[0].Variant.Name == ""
	h.OpenDialog(c)
	return nil
}

// choices are what variants can be made of.
type choices struct {
	states   []turn.State
	adapters []turn.RegisteredAdapter
	models   []kit.ModelFile
}

// readChoices blocks.
func (r *room) readChoices(ctx context.Context, w *chat.Workspace) (c choices, err error) {
	var failed, wrong error
	c.states, err = w.Library().List(ctx)
	c.adapters, failed = w.Adapters().List(ctx)
	if r.listModels != nil {
		c.models, wrong = r.listModels(ctx)
	}
	return c, errors.Join(err, failed, wrong)
}

// takeChoices carries out what waited for them.
func (s *setup) takeChoices(h kit.Host, c choices, err error) tea.Cmd {
	s.choices, s.loaded = c, true
	next := s.next
	if s.next = nil; next != nil {
		s.said = ""
	}
	switch {
	case err != nil:
		s.said = kit.OneLine(err.Error())
	case next != nil && kit.OnTop(h, s):
		return next(h)
	}
	return nil
}
