package ui

import (
	"errors"
	"fmt"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/ui/keys"
)

// errNoCommand says that an action does not concern a dialogue alone.
var errNoCommand = errors.New("this command does not work here")

// command runs an action that concerns one dialogue and needs no screen; both
// interfaces use it. own are the presets of the person. turn is what version commands are about. said is what to
// tell the person, if anything.
func command(d dialogue, model *infer.Model, own []prompt.Preset, id keys.ID, arg string, turnID turn.ID) (said string, err error) {
	switch id {
	case keys.Stop:
		d.Stop()
		return "", nil
	case keys.Continue:
		return "", d.Continue()
	case keys.Retry:
		return "", d.Retry()
	case keys.Reread:
		return "what is missing is read with what is in use now", d.Reread()
	case keys.PrevSibling:
		return "", d.SwitchSibling(versioned(d.View(), turnID), -1)
	case keys.NextSibling:
		return "", d.SwitchSibling(versioned(d.View(), turnID), 1)
	case keys.Undo, keys.Redo:
		return move(d, id)
	case keys.Scrub:
		return goToTurn(d, arg)
	case keys.EditAnswer:
		return "", editAnswer(d, turnID, arg)
	case keys.Best:
		n, err := number(arg, defaultBest)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d answers to the prompt", n), d.Best(n)
	case keys.Label:
		return labelled(arg), d.SetLabel(turnID, arg)
	case keys.PinTurn:
		return pinTurn(d, turnID)
	case keys.Think:
		return setThink(d, model, arg)
	case keys.Preset:
		return setPreset(d, prompt.Presets(model, own...), arg)
	}
	if f, ok := keys.Parameter(id); ok {
		return setParameter(d, f, arg)
	}
	return "", errNoCommand
}

// versioned is the turn whose versions are meant: the given one, or the nearest
// above it that has others, such as a prompt that was edited.
func versioned(v chat.View, id turn.ID) turn.ID {
	nearest := id
	for i, t := range v.Turns {
		if i < len(v.Siblings) && v.Siblings[i].Of > 1 {
			nearest = t.ID
		}
		if t.ID == id {
			break
		}
	}
	return nearest
}

// aboutThinking says what the modes do.
var aboutThinking = map[turn.ThinkMode]string{
	turn.ThinkOff:     "nothing is added to the prompt",
	turn.ThinkFast:    "an empty thought: the answer comes at once",
	turn.ThinkFree:    "the model thinks as long as it likes",
	turn.ThinkShort:   "a short thought",
	turn.ThinkLong:    "a long thought",
	turn.ThinkChinese: "a thought in Chinese",
}

// errNoThinking says why there is nothing to choose.
func errNoThinking(model *infer.Model) error {
	return fmt.Errorf("%s was not trained to think; the G1 models were", model.Name)
}

func setThink(d dialogue, model *infer.Model, arg string) (string, error) {
	modes := prompt.ThinkModes(model)
	var names []string
	for _, mode := range modes {
		if strings.EqualFold(arg, string(mode)) {
			return "thinking: " + arg + ", from the next turn on", d.SetThink(mode)
		}
		names = append(names, string(mode))
	}
	if len(modes) == 1 {
		return "", errNoThinking(model)
	}
	return "", fmt.Errorf("%q is not a thinking mode of %s: choose %s", arg, model.Name, strings.Join(names, ", "))
}

func setPreset(d dialogue, presets []prompt.Preset, name string) (string, error) {
	var names []string
	for _, p := range presets {
		if strings.EqualFold(p.Name, name) {
			sampling := p.Sampling
			sampling.Seed = d.View().Conversation.Sampling.Seed
			return "preset " + p.Name + ", from the next token on", d.SetSampling(sampling, p.Name)
		}
		names = append(names, p.Name)
	}
	return "", fmt.Errorf("%q is not a preset: choose %s", name, strings.Join(names, ", "))
}

// setParameter changes one sampling parameter.
func setParameter(d dialogue, f *sampler.Field, arg string) (string, error) {
	p := d.View().Conversation.Sampling
	if err := f.Parse(&p, arg); err != nil {
		a, _ := keys.Find(keys.ID(f.Name))
		return "", fmt.Errorf("%w: write %s", err, a.Usage())
	}
	when := "from the next token on"
	if f.Kind() == sampler.Stream {
		when = "from the next answer on"
	}
	return f.Name + " " + arg + ", " + when, d.SetSampling(p, "")
}
