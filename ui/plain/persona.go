package plain

import (
	"rookery/ui/kit"
	"rookery/ui/persona"
)

// persona lists the personas, begins a conversation with one, or changes the library.
func (c *console) persona(arg string) error {
	l := c.options.Personas
	switch {
	case arg == "":
		all, err := l.List(c.ctx)
		for _, p := range all {
			c.say(kit.OneLine(p.Name) + ": " + persona.Describe(p) + ".")
		}
		c.say("/persona and a name begins a conversation with one; /persona save and a name saves this one's.")
		return err
	case persona.IsChange(arg):
		said, err := persona.Change(c.ctx, l, c.d, arg)
		if err != nil {
			return err
		}
		c.say(kit.Capitalize(said) + ".")
		return nil
	}
	p, values, err := persona.Read(c.ctx, l, arg)
	if err != nil {
		return err
	}
	d, err := c.workspace.NewAs(c.ctx, p, values, c.allPresets())
	if err != nil {
		return err
	}
	c.use(d)
	c.say("A new conversation with " + kit.OneLine(p.Name) + ".")
	return nil
}
