package plain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rookery/chat/library"
	"rookery/ui/kit"
	"rookery/ui/states"
)

// states lists the library, or begins a new conversation from the state of a name.
func (c *console) states(name string) error {
	list, err := c.workspace.Library().List(c.ctx)
	if err != nil {
		return err
	}
	if name == "" {
		for _, s := range list {
			c.say(kit.OneLine(s.Name) + ": " + strings.ReplaceAll(kit.AboutState(s), " · ", ", ") + ".")
		}
		c.say("/states and a name begins a conversation from a state.")
		return nil
	}
	s, err := library.FindState(list, name)
	if err != nil {
		return err
	}
	d, err := c.workspace.NewFrom(s)
	if err != nil {
		return err
	}
	c.use(d)
	c.say("A new conversation that begins from " + kit.OneLine(s.Name) + ".")
	return nil
}

// progressEvery is how often progress is told.
const progressEvery = 10 * time.Second

// bake reads a text file into a state and says how far it is.
func (c *console) bake(path string) error {
	if path == "" {
		return errors.New("write /bake and the path of a text file")
	}
	recipe, err := states.ReadTextFile(c.ctx, path)
	if err != nil {
		return err
	}
	c.say("Reading " + kit.OneLine(recipe.Source) + ".")
	s, err := c.workspace.Library().Bake(c.ctx, c.workspace.Engine(), recipe, c.sayProgress())
	if err != nil {
		return err
	}
	c.say(fmt.Sprintf("Baked %s, %s tokens. /states %s begins from it.", kit.OneLine(s.Name), kit.FormatCount(s.Read), kit.OneLine(s.Name)))
	return nil
}

// keepState keeps the state after the last answer.
func (c *console) keepState(name string) error {
	answer, ok := kit.LastAnswer(c.d.View().Turns)
	switch {
	case name == "":
		return errors.New("write /keep and a name for the state")
	case !ok:
		return states.ErrNoAnswer
	}
	s, err := c.d.SaveState(c.ctx, answer.ID, name)
	return c.sayDone("Kept as "+kit.OneLine(s.Name)+".", err)
}

// drift says how far the conversation has gone from its beginning.
func (c *console) drift(string) error {
	line, from, err := c.d.Drift(c.ctx)
	if err != nil {
		return err
	}
	c.say("Distance to " + kit.OneLine(from) + ":")
	for i, d := range line {
		c.say(fmt.Sprintf("state %d: relative L2 %.3f, cosine %.3f.", i+1, d.Distance.L2, d.Distance.Cosine))
	}
	return nil
}
