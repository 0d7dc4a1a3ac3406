package plain

import (
	"errors"
	"slices"

	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/panel"
)

// mix uses the mix that was written, or says which one is in use.
func (c *console) mix(text string) error {
	if text == "" {
		c.say(kit.Capitalize(panel.AboutMix(c.d.View().Conversation.Mix)) + ".")
		c.say("/mix and state=weight,state=weight mixes states of /states; own is this chat; /mix off ends it.")
		return nil
	}
	mix, err := c.workspace.ParseMix(c.ctx, text)
	if err != nil {
		return err
	}
	return c.useMix(mix)
}

func (c *console) useMix(mix turn.Mix) error {
	if err := c.d.SetMix(mix); err != nil {
		return err
	}
	v := c.d.View()
	text := panel.AboutMix(mix)
	switch n := v.Rereads(); {
	case n == 1:
		text += "; the next answer reads 1 token again"
	case n > 1:
		text += "; the next answer reads " + kit.FormatCount(n) + " tokens again"
	}
	c.say(kit.Capitalize(text) + ".")
	return nil
}

// savedMixes lists the saved mixes, or uses the one of a name.
func (c *console) savedMixes(name string) error {
	if name != "" {
		mix, err := c.workspace.FindMix(c.ctx, name)
		if err != nil {
			return err
		}
		return c.useMix(mix)
	}
	list, err := c.workspace.Mixes(c.ctx)
	if err != nil {
		return err
	}
	for _, m := range list {
		c.say(kit.OneLine(m.Name) + ": " + kit.OneLine(m.Mix.String()) + ".")
	}
	if len(list) == 0 {
		c.say("No mix was saved yet. /save_mix and a name saves that of the conversation.")
	}
	return nil
}

// saveMix keeps the mix of the conversation and says what it replaces.
func (c *console) saveMix(name string) error {
	if name == "" {
		return errors.New("write /save_mix and a name")
	}
	list, err := c.workspace.Mixes(c.ctx)
	if err != nil {
		return err
	}
	saved, err := c.workspace.SaveMix(c.ctx, name, c.d.View().Conversation.Mix)
	if err != nil {
		return err
	}
	said := "Saved the mix " + kit.OneLine(saved.Name)
	if i := slices.IndexFunc(list, func(m turn.NamedMix) bool { return m.Name == saved.Name }); i >= 0 {
		said += " in place of " + kit.OneLine(list[i].Mix.String())
	}
	c.say(said + ".")
	return nil
}
