package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rookery/chat"
	answers "rookery/chat/compare"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/compare"
	"rookery/ui/kit"
)

// A compareDialogue is the part of a dialogue that answers in several ways.
type compareDialogue interface {
	Compare(variants []chat.Variant) error
	SendCompare(text string, variants []chat.Variant) error
	Variant() chat.Variant
	Vote(winner turn.ID) error
	ScoreTurns(ctx context.Context, answers []turn.ID, reference chat.Variant) ([]answers.Score, error) // blocks
}

func (opening) Vote(turn.ID) error { return errOpening }
func (opening) ScoreTurns(context.Context, []turn.ID, chat.Variant) ([]answers.Score, error) {
	return nil, errOpening
}
func (opening) Compare([]chat.Variant) error             { return errOpening }
func (opening) SendCompare(string, []chat.Variant) error { return errOpening }
func (opening) Variant() chat.Variant                    { return chat.Variant{} }

// A compareWorkspace is what comparisons need of the workspace. What takes a context
// blocks and is called in commands only.
type compareWorkspace interface {
	LoadSecondModel(ctx context.Context, path string, progress func(done, total int64)) (*chat.SecondModel, error)
	Votes(ctx context.Context) ([]turn.Vote, error)
}

// errComparePlain says how comparisons are asked for without a screen.
var errComparePlain = errors.New("write /compare models, /compare states, /compare adapters, /compare presets or /compare seeds, with blind before the word to hear the names after a vote only, and the prompt, unless it is the last prompt")

// compare answers a prompt in several ways: the conversation's own with each
// model, state, adapter or preset, or with several seeds.
func (p *plain) compare(arg string) error {
	what, prompt, _ := strings.Cut(arg, " ")
	blind := what == "blind"
	if blind {
		what, prompt, _ = strings.Cut(strings.TrimSpace(prompt), " ")
	}
	drafts, err := p.drafts(what)
	if err != nil {
		return err
	}
	if most := chat.MaxCompare; len(drafts) > most {
		p.say(fmt.Sprintf("There are %d; the first %d are compared.", len(drafts), most))
		drafts = drafts[:most]
	}
	if len(drafts) < chat.MinCompare {
		return errors.New("there is nothing to compare with")
	}
	if others := compare.OtherModels(drafts); len(others) > 0 {
		said, err := compare.FitModels(others)
		if err != nil {
			return err
		}
		p.say("These are loaded and given back afterwards: " + said)
	}
	variants, err := compare.Prepare(p.ctx, p.workspace, drafts, p.saying())
	if err != nil {
		return err
	}
	defer compare.ReleaseModels(variants) // the comparison holds what it needs
	if prompt = strings.TrimSpace(prompt); prompt == "" {
		err = p.d.Compare(variants)
	} else {
		err = p.d.SendCompare(prompt, variants)
	}
	if err != nil {
		return err
	}
	p.choosing, p.blind = true, blind
	p.say(fmt.Sprintf("%d answers are being made.", len(variants)))
	return nil
}

// drafts are the conversation's way with each of what is named.
func (p *plain) drafts(what string) ([]compare.Draft, error) {
	presets := prompt.Presets(p.model, p.own...)
	own := compare.OwnDraft(p.d, p.model, presets)
	own.Sampling.Seed = 0
	drafts := []compare.Draft{own}
	add := func(change func(d *compare.Draft)) {
		d := own
		change(&d)
		drafts = append(drafts, d)
	}
	switch what {
	case "models":
		return p.modelDrafts(own)
	case "states":
		list, err := p.workspace.States(p.ctx)
		drafts[0].Base = turn.State{}
		for _, s := range list {
			add(func(d *compare.Draft) { d.Base = s })
		}
		return drafts, err
	case "adapters":
		list, err := p.workspace.Adapters(p.ctx)
		drafts[0].Adapter = turn.Adapter{}
		for _, a := range list {
			add(func(d *compare.Draft) { d.Adapter = a.Adapter })
		}
		return drafts, err
	case "presets":
		drafts = nil
		for _, preset := range presets {
			add(func(d *compare.Draft) { d.UsePreset(preset) })
		}
		return drafts, nil
	case "seeds":
		drafts = nil
		for i := range compare.DefaultBest {
			add(func(d *compare.Draft) { d.Sampling.Seed = p.d.Variant().Sampling.Seed + uint64(i+1) })
		}
		return drafts, nil
	}
	return nil, errComparePlain
}

// modelDrafts are the conversation's way, and each other model that can be run
// without its state, adapter and mix.
func (p *plain) modelDrafts(own compare.Draft) ([]compare.Draft, error) {
	if p.options.Models == nil {
		return nil, chat.ErrNoSecondModels
	}
	files, err := p.options.Models(p.ctx)
	drafts := []compare.Draft{own}
	for _, f := range files {
		if f.Problem == "" && !f.Current {
			d := own
			d.UseModel(f)
			drafts = append(drafts, d)
		}
	}
	return drafts, err
}

// saying says that a model is being loaded, and at each quarter how far it is.
func (p *plain) saying() func(string) {
	last, quarter := "", 0
	return func(text string) {
		name, share, counted := strings.Cut(text, ": ")
		n, _ := strconv.Atoi(strings.TrimSuffix(share, "%")) // 0 at its beginning
		if !counted {
			last, quarter = strings.TrimSuffix(name, "."), 0
			p.say(text)
			return
		}
		const quarters = 25
		if name == last && n/quarters > quarter {
			quarter = n / quarters
			p.say(name + ": " + share + ".")
		}
	}
}

// readOut is what is said before one of several answers.
func readOut(i, n int, r chat.Alternative) string {
	if r.Variant.Name == "" {
		return fmt.Sprintf("Answer %d of %d", i+1, n)
	}
	line := fmt.Sprintf("Answer %d of %d, %s, %s tokens", i+1, n, kit.OneLine(r.Variant.Name), kit.FormatCount(r.Progress.Generated))
	if r.Rate > 0 {
		line += ", " + kit.FormatRate(r.Rate) + " a second"
	}
	if r.FirstToken > 0 {
		line += ", the first after " + compare.FormatDelay(r.FirstToken)
	}
	if r.Differs.Found && r.Differs.Token < 0 {
		line += ", differs from the first"
	} else if r.Differs.Found {
		line += fmt.Sprintf(", differs from the first at token %d", r.Differs.Token+1)
	}
	return line
}
