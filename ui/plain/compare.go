package plain

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/compare"
	"rookery/ui/kit"
)

// errCompare says how comparisons are asked for without a screen.
var errCompare = errors.New("write /compare models, /compare states, /compare adapters, /compare presets or /compare seeds, with blind before the word to hear the names after a vote only, and the prompt, unless it is the last prompt")

// compare answers a prompt in several ways: the conversation's own with each
// model, state, adapter or preset, or with several seeds.
func (c *console) compare(arg string) error {
	what, text, _ := strings.Cut(arg, " ")
	blind := what == "blind"
	if blind {
		what, text, _ = strings.Cut(strings.TrimSpace(text), " ")
	}
	drafts, err := c.drafts(what)
	if err != nil {
		return err
	}
	if most := chat.MaxCompare; len(drafts) > most {
		c.say(fmt.Sprintf("There are %d; the first %d are compared.", len(drafts), most))
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
		c.say("These are loaded and given back afterwards: " + said)
	}
	variants, err := compare.Prepare(c.ctx, c.workspace, drafts, c.sayLoading())
	if err != nil {
		return err
	}
	defer compare.ReleaseModels(variants) // the comparison holds what it needs
	if text = strings.TrimSpace(text); text == "" {
		err = c.d.Compare(variants)
	} else {
		err = c.d.SendCompare(text, variants)
	}
	if err != nil {
		return err
	}
	c.choosing, c.blind = true, blind
	c.say(fmt.Sprintf("%d answers are being made.", len(variants)))
	return nil
}

// drafts are the conversation's way with each of what is named.
func (c *console) drafts(what string) ([]compare.Draft, error) {
	presets := c.allPresets()
	own := compare.OwnDraft(c.d, c.model, presets)
	seed := own.Sampling.Seed
	own.Sampling.Seed = 0
	drafts := []compare.Draft{own}
	add := func(change func(d *compare.Draft)) {
		d := own
		change(&d)
		drafts = append(drafts, d)
	}
	switch what {
	case "models":
		return c.modelDrafts(own)
	case "states":
		list, err := c.workspace.Library().List(c.ctx)
		drafts[0].Base = turn.State{}
		for _, s := range list {
			add(func(d *compare.Draft) { d.Base = s })
		}
		return drafts, err
	case "adapters":
		list, err := c.workspace.Adapters().List(c.ctx)
		drafts[0].Adapter = turn.Adapter{}
		for _, a := range list {
			add(func(d *compare.Draft) { d.Adapter = a.Adapter })
		}
		return drafts, err
	case "presets":
		drafts = nil
		for _, p := range presets {
			add(func(d *compare.Draft) { d.UsePreset(p) })
		}
		return drafts, nil
	case "seeds":
		drafts = nil
		for i := range compare.DefaultBest {
			add(func(d *compare.Draft) { d.Sampling.Seed = seed + uint64(i+1) })
		}
		return drafts, nil
	}
	return nil, errCompare
}

// modelDrafts are the conversation's way, and each other model that can be run
// without its state, adapter and mix.
func (c *console) modelDrafts(own compare.Draft) ([]compare.Draft, error) {
	if c.options.Models == nil {
		return nil, chat.ErrNoSecondModels
	}
	files, err := c.options.Models(c.ctx)
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

// sayLoading says that a model is being loaded, and at each quarter how far it is.
func (c *console) sayLoading() func(string) {
	last, quarter := "", 0
	return func(text string) {
		name, share, counted := strings.Cut(text, ": ")
		n, _ := strconv.Atoi(strings.TrimSuffix(share, "%")) // 0 at its beginning
		if !counted {
			last, quarter = strings.TrimSuffix(name, "."), 0
			c.say(text)
			return
		}
		const quarters = 25
		if name == last && n/quarters > quarter {
			quarter = n / quarters
			c.say(name + ": " + share + ".")
		}
	}
}

// readAnswers reads several answers out that have ended.
func (c *console) readAnswers(rows []chat.Alternative) {
	blind := c.blind && len(rows) > 1
	c.choosing, c.blind, c.hidden = false, false, nil
	if blind {
		c.readBlind(rows)
		return
	}
	scores := c.perplexities(rows)
	for i, r := range rows {
		line := aboutAnswer(i, len(rows), r)
		if i < len(scores) && !math.IsNaN(scores[i]) {
			line += fmt.Sprintf(", perplexity %.2f for the first", scores[i])
		}
		c.say(line + ": " + kit.Clean(textOf(r)))
	}
	if len(rows) > 0 {
		c.say("The conversation goes on from the first; /next and /prev choose another.")
	}
	if len(rows) > 1 && rows[0].Variant.Name != "" {
		c.say("/votes and a number says which is best, /votes tie that none is.")
	}
}

// aboutAnswer is what is said before one of several answers.
func aboutAnswer(i, n int, r chat.Alternative) string {
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

// textOf is what is read out of an answer.
func textOf(r chat.Alternative) string {
	thought, answer, open := prompt.SplitThought(r.Text)
	if open {
		return "(thinking) " + thought
	}
	return strings.TrimSpace(answer)
}

// perplexities are those of compared answers under the first variant; nil of
// other answers, and where they cannot be had.
func (c *console) perplexities(rows []chat.Alternative) []float64 {
	if len(rows) == 0 || rows[0].Variant.Name == "" {
		return nil
	}
	ids := make([]turn.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.Turn.ID
	}
	scores, err := c.d.ScoreTurns(c.ctx, ids, rows[0].Variant)
	if err != nil {
		return nil
	}
	list := make([]float64, len(scores))
	for i := range scores {
		list[i] = scores[i].Perplexity()
	}
	return list
}

// votes reads the win table out, gives a vote, or writes all votes to a file.
func (c *console) votes(arg string) error {
	ext := filepath.Ext(arg)
	if file := ext == ".csv" || ext == ".jsonl"; file || arg == "" {
		votes, err := c.workspace.Votes(c.ctx)
		if err != nil {
			return err
		}
		if !file {
			compare.SayVotes(votes, c.say)
			return nil
		}
		return c.sayDone(compare.FormatVoteCount(len(votes))+" exported to "+arg+".", compare.WriteVotes(arg, ext, votes))
	}
	rows := c.numbered()
	said, err := compare.Vote(c.d, rows, arg)
	if err == nil {
		c.say(kit.Capitalize(said) + ".")
		c.reveal(rows)
	}
	return err
}
