package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rookery/chat"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/states"
)

// states lists the library, or begins a new conversation from the state of a name.
func (p *plain) states(name string) error {
	list, err := p.options.Workspace.Library().List(p.ctx)
	if err != nil {
		return err
	}
	if name == "" {
		for _, s := range list {
			p.say(kit.OneLine(s.Name) + ": " + strings.ReplaceAll(kit.AboutState(s), " · ", ", ") + ".")
		}
		p.say("/states and a name begins a conversation from a state.")
		return nil
	}
	for _, s := range list {
		if !strings.EqualFold(s.Name, name) {
			continue
		}
		d, err := p.options.Workspace.NewFrom(s)
		if err != nil {
			return err
		}
		p.use(d)
		p.say("A new conversation that begins from " + kit.OneLine(s.Name) + ".")
		return nil
	}
	return fmt.Errorf("there is no state %q; /states lists them", name)
}

// sayEvery is how often progress is told.
const sayEvery = 10 * time.Second

// bake reads a text file into a state and says how far it is.
func (p *plain) bake(path string) error {
	if path == "" {
		return errors.New("write /bake and the path of a text file")
	}
	r, err := states.ReadTextFile(path)
	if err != nil {
		return err
	}
	p.say("Reading " + kit.OneLine(r.Source) + ".")
	said := time.Now()
	s, err := p.options.Workspace.Library().Bake(p.ctx, p.workspace.Engine(), r, func(done infer.Progress) {
		if time.Since(said) >= sayEvery {
			said = time.Now()
			p.say(fmt.Sprintf("%s of %s tokens.", kit.FormatCount(done.Read), kit.FormatCount(done.ToRead)))
		}
	})
	if err != nil {
		return err
	}
	p.say(fmt.Sprintf("Baked %s, %s tokens. /states %s begins from it.", kit.OneLine(s.Name), kit.FormatCount(s.Read), kit.OneLine(s.Name)))
	return nil
}

// keep keeps the state after the last answer.
func (p *plain) keep(name string) error {
	answer, ok := kit.LastAnswer(p.d.View().Turns)
	switch {
	case name == "":
		return errors.New("write /keep and a name for the state")
	case !ok:
		return states.ErrNoAnswer
	}
	s, err := p.conversation().SaveState(p.ctx, answer.ID, name)
	if err == nil {
		p.say("Kept as " + kit.OneLine(s.Name) + ".")
	}
	return err
}

// drift says how far the conversation has gone from its beginning.
func (p *plain) drift() error {
	line, from, err := p.conversation().Drift(p.ctx)
	if err != nil {
		return err
	}
	p.say("Distance to " + kit.OneLine(from) + ":")
	for i, d := range line {
		p.say(fmt.Sprintf("state %d: relative L2 %.3f, cosine %.3f.", i+1, d.Distance.L2, d.Distance.Cosine))
	}
	return nil
}

// library runs the commands about states.
func (p *plain) library(id keys.ID, arg string) error {
	switch id {
	case keys.States:
		return p.states(arg)
	case keys.Bake:
		return p.bake(arg)
	case keys.KeepState:
		return p.keep(arg)
	}
	return p.drift()
}

// conversation is the open one.
func (p *plain) conversation() *chat.Dialogue { d, _ := p.d.(*chat.Dialogue); return d }
