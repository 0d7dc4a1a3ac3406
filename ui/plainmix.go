package ui

import (
	"errors"
	"slices"
	"strings"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
)

// mixes runs the commands about mixes.
func (p *plain) mixes(id keys.ID, arg string) error {
	switch id {
	case keys.Mix:
		return p.mix(arg)
	case keys.SaveMix:
		if arg == "" {
			return errors.New("write /save_mix and a name")
		}
		return p.saveMix(arg)
	}
	if arg == "" {
		return p.listMixes()
	}
	mix, err := p.options.Workspace.FindMix(p.ctx, arg)
	if err != nil {
		return err
	}
	return p.useMix(mix)
}

// mix uses the mix that was written, or says which one is in use.
func (p *plain) mix(text string) error {
	if text == "" {
		p.say(capital(panel.AboutMix(p.d.View().Conversation.Mix)) + ".")
		p.say("/mix and state=weight,state=weight mixes states of /states; own is this chat; /mix off ends it.")
		return nil
	}
	mix, err := p.options.Workspace.ParseMix(p.ctx, text)
	if err != nil {
		return err
	}
	return p.useMix(mix)
}

func (p *plain) useMix(mix turn.Mix) error {
	if err := p.d.SetMix(mix); err != nil {
		return err
	}
	v := p.d.View()
	text := panel.AboutMix(mix)
	if n := v.Rereads(); n > 0 {
		text += "; the next answer reads " + tokenCount(n) + " again"
	}
	p.say(capital(text) + ".")
	return nil
}

func (p *plain) listMixes() error {
	list, err := p.options.Workspace.Mixes(p.ctx)
	if err != nil {
		return err
	}
	for _, m := range list {
		p.say(kit.OneLine(m.Name) + ": " + kit.OneLine(m.Mix.String()) + ".")
	}
	if len(list) == 0 {
		p.say("No mix was saved yet. /save_mix and a name saves that of the conversation.")
	}
	return nil
}

// saveMix keeps the mix of the conversation and says what it replaces.
func (p *plain) saveMix(name string) error {
	list, err := p.options.Workspace.Mixes(p.ctx)
	if err != nil {
		return err
	}
	saved, err := p.options.Workspace.SaveMix(p.ctx, name, p.d.View().Conversation.Mix)
	if err != nil {
		return err
	}
	said := "Saved the mix " + kit.OneLine(saved.Name)
	if i := slices.IndexFunc(list, func(m turn.NamedMix) bool { return m.Name == saved.Name }); i >= 0 {
		said += " in place of " + kit.OneLine(list[i].Mix.String())
	}
	p.say(said + ".")
	return nil
}

func tokenCount(n int) string {
	if n == 1 {
		return "1 token"
	}
	return kit.FormatCount(n) + " tokens"
}

// capital begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
