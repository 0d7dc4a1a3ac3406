package ui

import (
	"errors"

	"rookery/chat/prompt"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
)

// keepSampling saves the parameters of the conversation as a preset, or as those
// of new conversations.
func (p *plain) keepSampling(id keys.ID, arg string) error {
	name := kit.OneLine(arg)
	if id == keys.SaveDefault {
		name = ""
	} else if name == "" {
		return errors.New("write /save-preset and a name")
	}
	c := p.d.View().Conversation
	said, err := panel.SaveSampling(p.options.SaveSampling, name, c.Sampling)
	if err == nil && name != "" {
		p.own = addPreset(p.own, prompt.OwnPreset(name, c.Sampling))
		err = p.d.SetSampling(c.Sampling, name)
	}
	if err != nil {
		return err
	}
	p.say(said + ".")
	return nil
}

// models says which models there are.
func (p *plain) models(arg string) error {
	if p.options.Models == nil || arg != "" {
		return panel.ErrNoModels // what was typed ahead would be lost in between
	}
	list, err := p.options.Models(p.ctx)
	if err != nil {
		return err
	}
	for _, f := range list {
		p.say(kit.OneLine(f.Name) + ", " + kit.OneLineOr(f.Path, "comes with the program") + ": " + kit.AboutModel(f) + "." + chosen(f.Current))
	}
	p.say("Start with --model and a file to use another one.")
	return nil
}
