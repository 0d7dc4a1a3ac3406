package ui

import (
	"context"
	"errors"
	"fmt"
	"os"

	"rookery/chat"
	"rookery/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Run shows the interface until the person leaves or ctx ends. The workspace stays
// the caller's: closing it stops and saves what was running. Signals are the
// caller's too: they should end ctx.
func Run(ctx context.Context, o Options) error {
	if err := o.Settings.Validate(); err != nil {
		return err
	}
	if o.Settings.Plain() {
		return runPlain(ctx, o)
	}
	m := New(ctx, o)
	defer m.quit()
	defer m.saveDrafts()
	m.setASCII(asciiOnly(os.Getenv))
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithFPS(drawFPS),
		// Signals end ctx. The library's own handler would wait for ever to tell
		// a program that ctx has ended first.
		tea.WithoutSignalHandler(),
	}
	if o.In != nil {
		options = append(options, tea.WithInput(o.In))
	}
	if o.Out != nil {
		options = append(options, tea.WithOutput(o.Out))
	}
	p := tea.NewProgram(m, options...)
	m.drawSoon = drawing(p)
	_, err := p.Run()
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted), ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("running the terminal interface: %w", err)
}

// runPlain runs the line mode on the conversation that was shown last.
func runPlain(ctx context.Context, o Options) error {
	open, active, err := restoreTabs(ctx, o.Workspace, o.First)
	if err != nil {
		return err
	}
	if active < 0 || active >= len(open) {
		open, active = []*chat.Dialogue{o.Workspace.New()}, 0
	}
	return plain.Run(ctx, plain.Options{
		Workspace: o.Workspace, Dialogue: open[active], Features: features(o), Presets: o.Settings.Presets, Version: o.Version, Personas: o.personas(),
		Models: o.Models, Surroundings: o.Surroundings, SaveSampling: o.SaveSampling, In: o.In, Out: o.Out,
	})
}
