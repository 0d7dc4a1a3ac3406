package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/measure"
)

// A mixFlag is the mix of states that --mix names.
type mixFlag struct{ text string }

func (f *mixFlag) addTo(fs *pflag.FlagSet) {
	fs.StringVar(&f.text, "mix", "", "draw every token from several states: own=1,state=weight,... (own is this chat)")
}

// parseMix reads the mix and finds its states in the library. Without the flag it
// returns the zero Mix.
func (f *mixFlag) parseMix(ctx context.Context, c config.Config) (mix turn.Mix, err error) {
	if f.text == "" {
		return turn.Mix{}, nil
	}
	var wrong error
	err = readLibrary(ctx, c, func(l *library.Library) error {
		mix, wrong = l.ParseMix(ctx, f.text)
		return nil
	})
	if wrong != nil {
		err = exitWith(exitUsage, fmt.Errorf("--mix: %w", wrong))
	}
	return mix, err
}

// loadMembers loads the members of a mix besides this chat, for a model. It returns nil
// for the zero Mix.
func loadMembers(ctx context.Context, c config.Config, m *infer.Model, mix turn.Mix, adapter string) (v []infer.Member, err error) {
	if !mix.Active() {
		return nil, nil
	}
	var wrong error
	err = readLibrary(ctx, c, func(l *library.Library) error {
		v, wrong = l.LoadMembers(ctx, mix, m, adapter, "")
		return nil
	})
	if wrong != nil {
		err = exitWith(exitUsage, fmt.Errorf("--mix: %w", wrong))
	}
	return v, err
}

// setMix gives the mix to the first conversation of a workspace. If first is nil and
// there is a mix, it opens a new conversation.
func (f *mixFlag) setMix(ctx context.Context, workspace *chat.Workspace, first *chat.Dialogue) (*chat.Dialogue, error) {
	if f.text == "" {
		return first, nil
	}
	mix, err := workspace.ParseMix(ctx, f.text)
	if err != nil {
		return first, exitWith(exitUsage, fmt.Errorf("--mix: %w", err))
	}
	if first == nil {
		first = workspace.New()
	}
	return first, first.SetMix(mix)
}

// stateCount returns the number of states if --mix gives one, and 0 if it names them.
func (f *mixFlag) stateCount() int {
	n, err := strconv.Atoi(f.text)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// slotCount returns the number of states in the mix, that of the chat included.
func (f *mixFlag) slotCount() int {
	if f.text == "" {
		return 0
	}
	return max(f.stateCount(), 2+strings.Count(f.text, ","))
}

// benchMix measures one state alone, and then the mix.
func (r *report) benchMix(ctx context.Context, s subject, c config.Config, o benchOptions, plan measure.Plan) error {
	if o.mix.text == "" {
		return nil
	}
	model := s.model
	if model == nil {
		model = measure.Model(s.name, s.shape)
	}
	own, states := float32(1), make([]infer.Member, max(0, o.mix.stateCount()-1))
	for i := range states {
		states[i] = infer.Member{Name: strconv.Itoa(i), Weight: 1}
	}
	if o.mix.stateCount() == 0 {
		if s.model == nil {
			return exitWith(exitUsage, fmt.Errorf("--mix with --shape takes a number of states: random weights have no library of states"))
		}
		mix, err := o.mix.parseMix(ctx, c)
		if err != nil {
			return err
		}
		if states, err = loadMembers(ctx, c, model, mix, ""); err != nil {
			return err
		}
		own = mix.Weights()[0]
	}
	for _, with := range [][]infer.Member{nil, states} {
		series, err := measure.Mix(ctx, model, s.backend, own, with, plan)
		if err != nil {
			return err
		}
		r.addSeries("mix", series)
	}
	return nil
}
