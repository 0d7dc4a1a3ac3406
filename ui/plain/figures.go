package plain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/ui/kit"
	"rookery/ui/panel"
	"rookery/ui/theme"
)

// spokenCandidates is how many tokens are read out of what could come next.
const spokenCandidates = 8

// sampling says the parameters, and what the next token would be chosen from.
func (c *console) sampling(string) error {
	s := c.d.View().Conversation
	what := "Own sampling"
	if s.Preset != "" {
		what = "Preset " + kit.OneLine(s.Preset)
	}
	c.say(what + ": " + strings.NewReplacer("=", " ", " ", ", ").Replace(kit.FormatSampling(s.Sampling)) + ".")
	distribution, when := c.d.RecentDistribution(), "The last token was chosen from"
	if c.d.View().Live == nil {
		when = "The next token would be chosen from"
		var err error
		if distribution, err = c.d.NextDistribution(c.ctx); err != nil {
			return err
		}
	}
	if distribution == nil {
		c.say("There is no token to look at yet.")
		return nil
	}
	c.say(when + ":")
	for i, candidate := range distribution.Under(s.Sampling, spokenCandidates) {
		c.say(formatCandidate(i, candidate))
	}
	return nil
}

// formatCandidate is a line of a token that could stand somewhere.
func formatCandidate(i int, c chat.Candidate) string {
	taken := ""
	if c.Taken {
		taken = " This one was taken."
	}
	return fmt.Sprintf("%d: %q, %.2f percent by the model, %.2f in this draw.%s", i+1, c.Text, 100*c.Model, 100*c.Drawn, taken)
}

// savePreset saves the parameters of the conversation as a preset.
func (c *console) savePreset(name string) error {
	if name = kit.OneLine(name); name == "" {
		return errors.New("write /save-preset and a name")
	}
	p := c.d.View().Conversation.Sampling
	said, err := panel.SaveSampling(c.options.SaveSampling, name, p)
	if err != nil {
		return err
	}
	c.presets = prompt.AddPreset(c.presets, prompt.OwnPreset(name, p))
	return c.sayDone(said+".", c.d.SetSampling(p, name))
}

// saveDefault makes the parameters those of new conversations.
func (c *console) saveDefault(string) error {
	said, err := panel.SaveSampling(c.options.SaveSampling, "", c.d.View().Conversation.Sampling)
	return c.sayDone(said+".", err)
}

// models says which models there are.
func (c *console) models(arg string) error {
	if c.options.Models == nil || arg != "" {
		return panel.ErrNoModels // what was typed ahead would be lost in between
	}
	list, err := c.options.Models(c.ctx)
	if err != nil {
		return err
	}
	for _, f := range list {
		c.say(kit.OneLine(f.Name) + ", " + kit.OneLineOr(f.Path, "comes with the program") + ": " + kit.AboutModel(f) + "." + markChosen(f.Current))
	}
	c.say("Start with --model and a file to use another one.")
	return nil
}

// monitor says what the engine does, and what is around it.
func (c *console) monitor(string) error {
	th, err := theme.New(theme.Default, true)
	if err != nil {
		return err
	}
	s := c.workspace.Engine().Stats()
	c.say(strings.TrimSpace(ansi.Strip(panel.Strip(s, 400, th.WithGlyphs(theme.SpokenGlyphs())))) + ".")
	if s.Backend != "" {
		c.say("Backend: " + kit.OneLine(s.Backend) + ".")
	}
	if k := s.Kinds; k.Running+k.Resident+k.Free > 0 {
		c.say(fmt.Sprintf("Slots: %d running, %d resident, %d free.", k.Running, k.Resident, k.Free))
	}
	c.say(fmt.Sprintf("Since the start: %s steps, %s tokens read, %s generated.", kit.FormatCount(int(s.Steps)), kit.FormatCount(int(s.Read)), kit.FormatCount(int(s.Generated))))
	for _, r := range s.Requests {
		c.say(fmt.Sprintf("Running: %s, %s tokens, %s a second.", kit.OneLineOr(r.Label, "untitled"), kit.FormatCount(r.Generated), kit.FormatRate(r.Rate)))
	}
	if c.options.Surroundings != nil {
		c.saySurroundings(c.options.Surroundings())
	}
	return nil
}

// saySurroundings says what is around the engine.
func (c *console) saySurroundings(a panel.Surroundings) {
	sayIf := func(n int64, format string, args ...any) {
		if n > 0 {
			c.say(fmt.Sprintf(format, args...))
		}
	}
	sayIf(a.Adapters, "Adapters: %s.", kit.FormatSize(a.Adapters))
	sayIf(a.OtherModels, "Other models: %s.", kit.FormatSize(a.OtherModels))
	sayIf(a.MemoryBudget, "Snapshots in memory: %s of %s, %s of them unsaved.", kit.FormatSize(a.InMemory), kit.FormatSize(a.MemoryBudget), kit.FormatSize(a.Unsaved))
	sayIf(a.Disk, "On disk: %s.", kit.FormatSize(a.Disk))
	for _, g := range a.GPUs {
		line := fmt.Sprintf("%s: load %.0f percent, %s of %s of memory", kit.OneLineOr(g.Name, "GPU"), 100*g.Load, kit.FormatSize(g.MemoryUsed), kit.FormatSize(g.MemoryTotal))
		if g.Power > 0 {
			line += fmt.Sprintf(", %.0f watts", g.Power)
		}
		if g.Temperature > 0 {
			line += fmt.Sprintf(", %d degrees", g.Temperature)
		}
		c.say(line + ".")
	}
}
