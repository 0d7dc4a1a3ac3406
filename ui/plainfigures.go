package ui

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/compare"
	"rookery/ui/kit"
	"rookery/ui/panel"
	"rookery/ui/theme"
)

// spokenCandidates is how many tokens are read out of what could come next.
const spokenCandidates = 8

// votes reads the win table out, gives a vote, or writes all votes to a file.
func (p *plain) votes(arg string) error {
	switch ext := filepath.Ext(arg); {
	case arg == "":
		votes, err := p.workspace.Votes(p.ctx)
		if err == nil {
			compare.SayVotes(votes, p.say)
		}
		return err
	case ext == ".csv" || ext == ".jsonl":
		votes, err := p.workspace.Votes(p.ctx)
		if err != nil {
			return err
		}
		if err := compare.WriteVotes(arg, ext, votes); err != nil {
			return err
		}
		p.say(compare.FormatVoteCount(len(votes)) + " exported to " + arg + ".")
		return nil
	}
	rows := p.numbered()
	said, err := compare.Vote(p.d, rows, arg)
	if err == nil {
		p.say(capital(said) + ".")
		p.unveil(rows)
	}
	return err
}

// sampling says the parameters, and what the next token would be chosen from.
func (p *plain) sampling() error {
	c := p.d.View().Conversation
	what := "Own sampling"
	if c.Preset != "" {
		what = "Preset " + kit.OneLine(c.Preset)
	}
	p.say(what + ": " + strings.NewReplacer("=", " ", " ", ", ").Replace(kit.FormatSampling(c.Sampling)) + ".")
	o, when := p.d.RecentDistribution(), "The last token was chosen from"
	if p.d.View().Live == nil {
		when = "The next token would be chosen from"
		var err error
		if o, err = p.d.NextDistribution(p.ctx); err != nil {
			return err
		}
	}
	if o == nil {
		p.say("There is no token to look at yet.")
		return nil
	}
	p.say(when + ":")
	for i, c := range o.Under(c.Sampling, spokenCandidates) {
		p.say(spokenCandidate(i, c))
	}
	return nil
}

// spokenCandidate is a line of a token that could stand somewhere.
func spokenCandidate(i int, c chat.Candidate) string {
	taken := ""
	if c.Taken {
		taken = " This one was taken."
	}
	return fmt.Sprintf("%d: %q, %.2f percent by the model, %.2f in this draw.%s", i+1, c.Text, 100*c.Model, 100*c.Drawn, taken)
}

// monitor says what the engine does, and what is around it.
func (p *plain) monitor() {
	th := defaultTheme(true).WithGlyphs(theme.SpokenGlyphs())
	s := p.workspace.Engine().Stats()
	p.say(strings.TrimSpace(ansi.Strip(panel.Strip(s, 400, th))) + ".")
	if s.Backend != "" {
		p.say("Backend: " + kit.OneLine(s.Backend) + ".")
	}
	if k := s.Kinds; k.Running+k.Resident+k.Free > 0 {
		p.say(fmt.Sprintf("Slots: %d running, %d resident, %d free.", k.Running, k.Resident, k.Free))
	}
	p.say(fmt.Sprintf("Since the start: %s steps, %s tokens read, %s generated.", kit.FormatCount(int(s.Steps)), kit.FormatCount(int(s.Read)), kit.FormatCount(int(s.Generated))))
	for _, r := range s.Requests {
		p.say(fmt.Sprintf("Running: %s, %s tokens, %s a second.", kit.OneLineOr(r.Label, "untitled"), kit.FormatCount(r.Generated), kit.FormatRate(r.Rate)))
	}
	if p.options.Surroundings == nil {
		return
	}
	for _, line := range spokenAround(p.options.Surroundings()) {
		p.say(line)
	}
}

// spokenAround is what surrounds the engine, in sentences.
func spokenAround(a Surroundings) []string {
	var lines []string
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	add(a.Adapters, "Adapters: %s.", kit.FormatSize(a.Adapters))
	add(a.Guests, "Other models: %s.", kit.FormatSize(a.Guests))
	add(a.WarmBudget, "Snapshots kept warm: %s of %s, %s of them unsaved.", kit.FormatSize(a.Warm), kit.FormatSize(a.WarmBudget), kit.FormatSize(a.Unsaved))
	add(a.Disk, "On disk: %s.", kit.FormatSize(a.Disk))
	for _, g := range a.GPUs {
		line := fmt.Sprintf("%s: load %.0f percent, %s of %s of memory", kit.OneLineOr(g.Name, "GPU"), 100*g.Load, kit.FormatSize(g.MemoryUsed), kit.FormatSize(g.MemoryTotal))
		if g.Power > 0 {
			line += fmt.Sprintf(", %.0f watts", g.Power)
		}
		if g.Temperature > 0 {
			line += fmt.Sprintf(", %d degrees", g.Temperature)
		}
		lines = append(lines, line+".")
	}
	return lines
}

// perplexities are those of compared answers under the first variant; nil of
// other answers, and where they cannot be had.
func perplexities(ctx context.Context, d dialogue, rows []chat.Alternative) []float64 {
	if len(rows) == 0 || rows[0].Variant.Name == "" {
		return nil
	}
	ids := make([]turn.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.Turn.ID
	}
	judged, err := d.ScoreTurns(ctx, ids, rows[0].Variant)
	if err != nil {
		return nil
	}
	list := make([]float64, len(judged))
	for i := range judged {
		list[i] = judged[i].Perplexity()
	}
	return list
}

// judgement says a perplexity, if there is one.
func judgement(list []float64, i int) string {
	if i >= len(list) || math.IsNaN(list[i]) {
		return ""
	}
	return fmt.Sprintf(", perplexity %.2f for the first", list[i])
}
