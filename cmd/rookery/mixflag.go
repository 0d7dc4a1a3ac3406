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

func (f *mixFlag) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.text, "mix", "", "draw tokens from several states: own=1,state=weight,... (own is the conversation's)")
}

// parse reads the mix with the states of the library; without the flag it is
// the zero Mix.
func (f *mixFlag) parse(ctx context.Context, c config.Config) (mix turn.Mix, err error) {
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

// voices are the further states of a mix for a model, nil for the zero Mix.
func voices(ctx context.Context, c config.Config, m *infer.Model, mix turn.Mix, adapter string) (v []infer.Member, err error) {
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

// begin gives the first conversation the mix; a new one if there is none.
func (f *mixFlag) begin(ctx context.Context, workspace *chat.Workspace, first *chat.Dialogue) (*chat.Dialogue, error) {
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

// number is how many states a bench mixes that were not named, 0 if they were.
func (f *mixFlag) number() int {
	n, err := strconv.Atoi(f.text)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// slots is how many states the mix has, the own run among them.
func (f *mixFlag) slots() int {
	if f.text == "" {
		return 0
	}
	return max(f.number(), 2+strings.Count(f.text, ","))
}

// benchMix measures what a mix costs beside the own run alone.
func (r *report) benchMix(ctx context.Context, s subject, c config.Config, o benchOptions, plan measure.Plan) error {
	if o.mix.text == "" {
		return nil
	}
	model := s.model
	if model == nil {
		model = measure.Model(s.name, s.shape)
	}
	own, states := float32(1), make([]infer.Member, max(0, o.mix.number()-1))
	for i := range states {
		states[i] = infer.Member{Name: strconv.Itoa(i), Weight: 1}
	}
	if o.mix.number() == 0 {
		if s.model == nil {
			return exitWith(exitUsage, fmt.Errorf("--mix with --shape takes a number of states: random weights have none of the library's"))
		}
		mix, err := o.mix.parse(ctx, c)
		if err != nil {
			return err
		}
		if states, err = voices(ctx, c, model, mix, ""); err != nil {
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
