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

// A comparison answers prompts with its contestants. Each model is loaded once and has
// one engine.
type comparison struct {
	contestants []contestant
	reference   int // -1: none
	samples     int
	rows        int    // answers that run at once; all answers of one prompt do
	describes   string // everything that the answers depend on, to recognize results of the same comparison
}

// withComparison loads what the variants need, calls use, and unloads it.
func withComparison(cmd *cobra.Command, c config.Config, specs []variantSpec, use func(*comparison) error) (err error) {
	ctx := cmd.Context()
	store, err := borrowStore(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.from.Close()) }()
	b := &comparison{reference: -1, samples: 1}
	workspaces := map[string]*chat.Workspace{}
	for _, v := range specs {
		own := c
		if v.Model != "" {
			own.Model.Path = v.Model
		}
		workspace := workspaces[own.Model.Path]
		if workspace == nil {
			var closeWorkspace func() error
			if workspace, closeWorkspace, err = openWorkspace(cmd, own, store); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, closeWorkspace()) }()
			workspaces[own.Model.Path] = workspace
		}
		one, err := v.makeContestant(ctx, own, workspace)
		if err != nil {
			return err
		}
		b.addContestant(one)
	}
	b.addSettings(c)
	return use(b)
}

// addContestant adds a contestant.
func (b *comparison) addContestant(c contestant) {
	m := c.model()
	b.contestants = append(b.contestants, c)
	b.describes += fmt.Sprintf("%s %s %+v %s\n", c.spec.Name, c.variant.Describe(m), c.variant.Sampling, m.Fingerprint)
}

// addSettings adds the settings that the answers of all contestants depend on.
func (b *comparison) addSettings(c config.Config) {
	b.describes += fmt.Sprintf("%q %q %d %q\n", c.Chat.System, c.Chat.Think, c.Chat.MaxTokens, c.Chat.Stops)
}

// openWorkspace loads a model and gives it a workspace without conversations. The
// function closes both.
func openWorkspace(cmd *cobra.Command, c config.Config, store turn.Store) (*chat.Workspace, func() error, error) {
	e, err := openModel(cmd.Context(), cmd, c)
	if err != nil {
		return nil, nil, err
	}
	d, err := chatDefaults(c, e.Model())
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

// chooseReference sets the reference by its name; "" is none.
func (b *comparison) chooseReference(name string) error {
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

// answerPrompt lets all contestants answer a question, and the reference judge the
// answers. The answers of one sample follow each other.
func (b *comparison) answerPrompt(ctx context.Context, q prompt.Question) ([]answered, error) {
	all := make([]answered, b.samples*len(b.contestants))
	places := map[*chat.Workspace][]int{}
	for i := range all {
		c := b.contestants[i%len(b.contestants)]
		all[i] = answered{contestant: i % len(b.contestants), sample: i / len(b.contestants), perplexity: math.NaN()}
		places[c.workspace] = append(places[c.workspace], i)
	}
	group, together := errgroup.WithContext(ctx)
	for workspace, at := range places {
		group.Go(func() error { return b.answerOnModel(together, workspace, q, at, all) })
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

// answerOnModel lets the contestants of one model answer; at are their places in all.
func (b *comparison) answerOnModel(ctx context.Context, workspace *chat.Workspace, q prompt.Question, at []int, all []answered) error {
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

// An answered prompt is one contestant's answer to it.
type answered struct {
	chat.VariantAnswer
	contestant, sample int
	perplexity         float64 // NaN: no reference, or no tokens
}
