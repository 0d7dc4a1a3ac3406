package panel

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// AboutThinking says what the modes do.
var AboutThinking = map[turn.ThinkMode]string{
	turn.ThinkOff:     "nothing is added to the prompt",
	turn.ThinkFast:    "an empty thought: the answer comes at once",
	turn.ThinkFree:    "the model thinks as long as it likes",
	turn.ThinkEnglish: "the prompt asks for a thought, in English",
	turn.ThinkShort:   "a short thought",
	turn.ThinkLong:    "a long thought",
	turn.ThinkChinese: "a thought in Chinese",
}

// errNoThinking says why there is nothing to choose.
func errNoThinking(model *infer.Model) error {
	return fmt.Errorf("%s was not trained to think; the G1 models were", model.Name)
}

// pickThink lists the ways to think.
func pickThink(h kit.Host, _ string) tea.Cmd {
	modes := prompt.ThinkModes(h.Model())
	if len(modes) == 1 {
		return h.Fail(errNoThinking(h.Model()))
	}
	var entries []kit.Entry
	for _, mode := range modes {
		entries = append(entries, kit.Entry{
			Title: string(mode), Detail: AboutThinking[mode], Choose: kit.Run(keys.Think, string(mode)),
			Current: h.Tab().View().Conversation.Think == mode,
		})
	}
	h.OpenDialog(kit.NewChooser(h.Theme(), "Thinking mode, from the next turn on", "choose", "", entries))
	return nil
}

// setThink chooses the way to think by its name.
func setThink(c kit.Call) (said string, err error) {
	modes := prompt.ThinkModes(c.Model)
	var names []string
	for _, mode := range modes {
		if strings.EqualFold(c.Arg, string(mode)) {
			return "thinking: " + c.Arg + ", from the next turn on", c.Dialogue.SetThink(mode)
		}
		names = append(names, string(mode))
	}
	if len(modes) == 1 {
		return "", errNoThinking(c.Model)
	}
	return "", fmt.Errorf("%q is not a thinking mode of %s: choose %s", c.Arg, c.Model.Name, strings.Join(names, ", "))
}

// pickPreset lists the presets.
func pickPreset(h kit.Host, _ string) tea.Cmd {
	var entries []kit.Entry
	for _, p := range h.Presets() {
		entries = append(entries, kit.Entry{
			Title: p.Name, Detail: p.About, Choose: kit.Run(keys.Preset, p.Name),
			Current: h.Tab().View().Conversation.Preset == p.Name,
		})
	}
	h.OpenDialog(kit.NewChooser(h.Theme(), "Sampling preset, from the next token on", "choose", "This model has no presets.", entries))
	return nil
}

// setPreset chooses a preset by its name. The seed stays.
func setPreset(c kit.Call) (said string, err error) {
	names := make([]string, len(c.Presets))
	for i, p := range c.Presets {
		names[i] = p.Name
	}
	i, err := library.FindName("preset", c.Arg, names)
	if err != nil {
		return "", err
	}
	p := c.Presets[i]
	p.Sampling.Seed = c.Dialogue.View().Conversation.Sampling.Seed
	return "preset " + p.Name + ", from the next token on", c.Dialogue.SetSampling(p.Sampling, p.Name)
}

// setParameter changes one sampling parameter.
func setParameter(c kit.Call) (said string, err error) {
	f, _ := keys.Parameter(c.ID)
	p := c.Dialogue.View().Conversation.Sampling
	if err := f.Parse(&p, c.Arg); err != nil {
		a, _ := keys.Find(c.ID)
		return "", fmt.Errorf("%w: write %s", err, a.Usage())
	}
	when := "from the next token on"
	if f.Kind() == sampler.Stream {
		when = "from the next answer on"
	}
	return f.Name + " " + c.Arg + ", " + when, c.Dialogue.SetSampling(p, "")
}
