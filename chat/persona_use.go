package chat

import (
	"context"
	"fmt"
	"slices"

	"rookery/chat/persona"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer/adapter"
	"rookery/infer/sampler"
)

// NewAs is New with a persona, whose variables get values. presets are the person's own.
// A way to think that the model does not know is left out. It blocks.
func (k *Workspace) NewAs(ctx context.Context, p persona.Persona, values map[string]string, presets []prompt.Preset) (_ *Dialogue, err error) {
	d := k.New()
	defer func() {
		if err != nil {
			k.CloseDialogue(d)
			err = fmt.Errorf("persona %s: %w", p.Name, err)
		}
	}()
	if p.State != "" {
		s, err := k.library.Find(ctx, p.State)
		if err != nil {
			return nil, err
		}
		if err := d.SetBase(s); err != nil {
			return nil, err
		}
	}
	if p.Adapter != "" {
		a, err := k.adapters.Find(ctx, p.Adapter, adapter.Options{})
		if err != nil {
			return nil, err
		}
		if err := d.SetAdapter(a); err != nil {
			return nil, err
		}
	}
	if p.Mix != "" {
		mix, err := k.ParseMix(ctx, p.Mix)
		if err != nil {
			return nil, err
		}
		if err := d.SetMix(mix); err != nil {
			return nil, err
		}
	}
	if err := d.samplePersona(p, presets); err != nil {
		return nil, err
	}
	if slices.Contains(prompt.ThinkModes(k.engine.Model()), p.Think) {
		if err := d.SetThink(p.Think); err != nil {
			return nil, err
		}
	}
	if err := d.SetForm(p.Form); err != nil {
		return nil, err
	}
	system, err := p.Prompt(values)
	if err != nil || system == "" {
		return d, err
	}
	return d, d.SetSystem(system)
}

// samplePersona sets the sampling of a persona.
func (d *Dialogue) samplePersona(p persona.Persona, presets []prompt.Preset) error {
	c := d.View().Conversation
	params, name := c.Sampling, c.Preset
	if p.Preset != "" {
		found := prompt.FindPreset(d.workspace.engine.Model(), p.Preset, presets)
		if found.Name != p.Preset && len(p.Sampling) == 0 {
			return fmt.Errorf("there is no preset of sampling %q", p.Preset)
		}
		params, name = found.Sampling, found.Name
	}
	if len(p.Sampling) > 0 {
		var err error
		if params, err = p.Sampling.Over(params); err != nil {
			return err
		}
		name = ""
	}
	return d.SetSampling(params, name)
}

// Persona is what the conversation has of a persona, under a name.
func (d *Dialogue) Persona(name string) persona.Persona {
	v := d.View()
	c := v.Conversation
	p := persona.Persona{Name: name, System: c.System, State: v.Base, Adapter: v.Adapter, Preset: c.Preset, Form: c.Form}
	if c.Mix.Active() {
		p.Mix = c.Mix.String()
	}
	if c.Preset == "" {
		p.Sampling = sampler.Changes{}.WithRecipe(c.Sampling)
	}
	if c.Think != turn.ThinkOff {
		p.Think = c.Think
	}
	return p
}
