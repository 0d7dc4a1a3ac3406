package ui

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rookery/chat"
	"rookery/chat/persona"
	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
	"rookery/ui/theme"
)

// Settings are what the configuration says about the interface.
type Settings struct {
	Theme        string              // a name that theme.New knows; "" is the default
	Appearance   string              // "auto" or "" asks the terminal; "dark", "light"
	Keys         map[string][]string // overrides of the action table, by action id
	Mouse        bool
	Bell         bool // ring when an answer ends while the terminal is not in focus
	ScreenReader bool // plain lines instead of a screen; at start only
	FPS          int  // frames a second while text arrives; 0 is 30

	Presets []prompt.Preset // of sampling, a person's own

	// Err says that a changed configuration could not be read. It is shown and
	// the other fields are ignored.
	Err error
}

// Options are what the interface runs on.
type Options struct {
	Workspace *chat.Workspace // stays the caller's, who closes it afterwards
	First     *chat.Dialogue  // a new conversation to show first, or nil
	Settings  Settings
	Reload    <-chan Settings // changed settings, or nil
	Version   string
	DataDir   string // holds the personas; "" is none
	Problem   error  // shown at the beginning, or nil

	// Models lists the models that can be chosen; it blocks. Reopen is called
	// with the file of the one chosen, just before Run returns: the caller opens
	// the workspace with it and runs again. Both may be nil.
	Models func(context.Context) ([]ModelFile, error)
	Reopen func(path string)

	// Surroundings reads what the monitor shows besides the engine's own figures.
	// It may block and is called once a second while the monitor is open; nil
	// shows nothing.
	Surroundings func() Surroundings

	// SaveSampling keeps sampling parameters in the configuration: as a preset
	// or, with an empty name, as what new conversations begin with. It may block;
	// nil cannot.
	SaveSampling func(name string, p sampler.Params) error

	// Clipboard writes to the system's clipboard; nil is the one that there is.
	Clipboard func(text string) error

	In  io.Reader // standard input if nil
	Out io.Writer // standard output if nil
}

// Surroundings are what is around the engine: memory, disk and GPUs.
type Surroundings = panel.Surroundings

// A ModelFile is a model that can be chosen.
type ModelFile = kit.ModelFile

// Validate says what is wrong with settings, or nil.
func (s Settings) Validate() error {
	if _, err := theme.New(s.Theme, true); err != nil {
		return fmt.Errorf("ui.theme: %w", err)
	}
	switch s.Appearance {
	case "", "auto", "dark", "light":
	default:
		return fmt.Errorf(`ui.appearance: %q is not "auto", "dark" or "light"`, s.Appearance)
	}
	_, err := keys.New(s.Keys)
	return err
}

// fps is the frames a second, within reason.
func (s Settings) fps() int {
	if s.FPS <= 0 {
		return defaultFPS
	}
	return min(s.FPS, 120)
}

// Plain reports whether the line interface is asked for, or is all that the
// terminal can show.
func (s Settings) Plain() bool {
	env := os.Getenv("ACCESSIBLE")
	return s.ScreenReader || env != "" && env != "0" || os.Getenv("TERM") == "dumb"
}

// personas is the library of personas in the data directory.
func (o Options) personas() persona.Library {
	if o.DataDir == "" {
		return persona.Library{}
	}
	return persona.Library{Dir: filepath.Join(o.DataDir, "personas")}
}
