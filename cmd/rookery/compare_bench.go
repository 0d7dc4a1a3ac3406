package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer/demo"
)

// A bench answers prompts in the ways of its contestants: one engine for each
// model, loaded once.
type bench struct {
	contestants []contestant
	reference   int // -1: none
	samples     int
	rows        int    // answers that are asked for at once, but for those of one prompt
	describes   string // all that answers depend on, for going on later
}

// withBench loads what the variants need, and gives it back afterwards.
func withBench(cmd *cobra.Command, c config.Config, specs []variantSpec, use func(*bench) error) (err error) {
	ctx := cmd.Context()
	store, err := borrow(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.from.Close()) }()
	b := &bench{reference: -1, samples: 1}
	workspaces := map[string]*chat.Workspace{}
	for _, v := range specs {
		own := c
		if v.Model != "" {
			own.Model.Path = v.Model
		}
		workspace := workspaces[own.Model.Path]
		if workspace == nil {
			var closeDesk func() error
			if workspace, closeDesk, err = openWorkspace(cmd, own, store); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closeDesk()) }()
			workspaces[own.Model.Path] = workspace
		}
		one, err := v.contestant(ctx, own, workspace)
		if err != nil {
			return err
		}
		b.add(one)
	}
	b.settings(c)
	return use(b)
}

// add is one contestant more.
func (b *bench) add(c contestant) {
	m := c.model()
	b.contestants = append(b.contestants, c)
	b.describes += fmt.Sprintf("%s %s %+v %s\n", c.spec.Name, c.variant.Describe(m), c.variant.Sampling, m.Fingerprint)
}

// settings are those that answers depend on besides.
func (b *bench) settings(c config.Config) {
	b.describes += fmt.Sprintf("%q %q %d %q\n", c.Chat.System, c.Chat.Think, c.Chat.MaxTokens, c.Chat.Stops)
}

// openWorkspace loads a model and gives it a workspace, without conversations.
func openWorkspace(cmd *cobra.Command, c config.Config, store turn.Store) (*chat.Workspace, func() error, error) {
	e, err := openModel(cmd.Context(), cmd, c)
	if err != nil {
		return nil, nil, err
	}
	d, err := defaults(c, e.Model())
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	workspace := chat.NewWorkspace(e, store, d)
	workspace.UseStates(demo.States)
	useAdapters(workspace)
	return workspace, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // there is nothing to save
		defer cancel()
		return errors.Join(workspace.Close(ctx), e.Close())
	}, nil
}

// choose names the reference; "" is none.
func (b *bench) choose(name string) error {
	if name == "" {
		return nil
	}
	var names []string
	for i, c := range b.contestants {
		if c.spec.Name == name {
			b.reference = i
			return nil
		}
		names = append(names, c.spec.Name)
	}
	return fmt.Errorf("--reference %s: there is no such variant; there are %q", name, names)
}

// answer has all contestants answer a question, and the reference judge them.
// The answers of one sample follow each other.
func (b *bench) answer(ctx context.Context, q prompt.Question) ([]answered, error) {
	all := make([]answered, b.samples*len(b.contestants))
	places := map[*chat.Workspace][]int{}
	for i := range all {
		c := b.contestants[i%len(b.contestants)]
		all[i] = answered{contestant: i % len(b.contestants), sample: i / len(b.contestants), perplexity: math.NaN()}
		places[c.workspace] = append(places[c.workspace], i)
	}
	group, together := errgroup.WithContext(ctx)
	for workspace, at := range places {
		group.Go(func() error { return b.answerOn(together, workspace, q, at, all) })
	}
	if err := group.Wait(); err != nil || b.reference < 0 {
		return all, err
	}
	answers := make([]chat.VariantAnswer, len(all))
	for i := range all {
		answers[i] = all[i].VariantAnswer
	}
	judge := b.contestants[b.reference]
	judged, err := judge.workspace.ScoreAnswers(ctx, q, judge.variant, answers)
	for i := range judged {
		all[i].perplexity = judged[i].Perplexity()
	}
	return all, err
}

// answerOn has the contestants of one model answer.
func (b *bench) answerOn(ctx context.Context, workspace *chat.Workspace, q prompt.Question, at []int, all []answered) error {
	variants := make([]chat.Variant, len(at))
	for n, i := range at {
		variants[n] = b.contestants[all[i].contestant].variant
		variants[n].Sampling.Seed += uint64(all[i].sample)
	}
	answers, err := workspace.Answers(ctx, q, variants)
	for n := range answers {
		all[at[n]].VariantAnswer = answers[n]
	}
	return err
}

// An answered prompt is one answer to it.
type answered struct {
	chat.VariantAnswer
	contestant, sample int
	perplexity         float64 // NaN: not asked for, or of no tokens
}
