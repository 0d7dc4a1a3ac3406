package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"rookery/chat"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/demo"
	"rookery/infer/sampler"
	"rookery/sessions"
	"rookery/ui"
)

// closeTimeout limits how long the program saves conversations at the end.
const closeTimeout = 10 * time.Second

// errNoTerminal is the chat's error if its input or output is not a terminal.
var errNoTerminal = errors.New("the chat needs a terminal for its input and output: `rookery run` answers prompts from a pipe, --screen-reader talks in plain lines")

// chatCommand returns the default command under its own name.
func (a *app) chatCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "chat", Short: "Open the chat, as without a command", Args: usageArgs(cobra.NoArgs), RunE: a.runChat}
	a.chatAllFlags(cmd.Flags())
	return cmd
}

// runChat opens the interface. It is the default command.
func (a *app) runChat(cmd *cobra.Command, _ []string) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	settings := uiSettings(c)
	if err := settings.Validate(); err != nil {
		return exitWith(exitUsage, err)
	}
	if !settings.Plain() && (!isTerminal(cmd.InOrStdin()) || !isTerminal(cmd.OutOrStdout())) {
		return exitWith(exitUsage, errNoTerminal)
	}
	return a.openChats(cmd, c, settings)
}

// openChats opens the interface, and opens it again for every model that a person
// chooses in it. If a model cannot be loaded, it opens the one before again and shows
// why.
func (a *app) openChats(cmd *cobra.Command, c config.Config, settings ui.Settings) error {
	r := reopening{}
	for {
		r.next = nil
		err := a.openChat(cmd, c, settings, &r)
		switch {
		case err != nil && r.before != nil && !r.shown:
			c.Model, r.before, r.problem = *r.before, nil, err
		case err != nil || r.next == nil:
			return err
		default:
			before := c.Model
			c.Model = config.Model{Path: *r.next}
			r.before, r.problem = &before, nil
			a.state, a.adapter, a.mix.text = "", noAdapter, ""
		}
	}
}

// A reopening is what one run of the interface leaves for the next.
type reopening struct {
	next    *string       // file of the model that a person chose
	before  *config.Model // the model before, to go back to
	problem error         // why the model before is back
	shown   bool          // the interface was shown
}

// openChat opens the interface for one model.
func (a *app) openChat(cmd *cobra.Command, c config.Config, settings ui.Settings, r *reopening) error {
	r.shown = false
	store, err := sessions.Open(cmd.Context(), c.Storage.DataDir)
	if err != nil {
		return exitWith(exitStore, err)
	}
	store.SetRetention(retention(c))
	e, err := openModel(cmd.Context(), cmd, c)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	d, err := chatDefaults(c, e.Model())
	if err != nil {
		return errors.Join(err, e.Close(), store.Close())
	}
	defer infer.Overlap()() // now that the backend has chosen its threads
	workspace := chat.NewWorkspace(e, store, d)
	workspace.WatchStore(rescuePlaces(c.Storage.DataDir)...)
	workspace.SetMemory(int64(c.Storage.MemoryBudget))
	workspace.UseStates(demo.States)
	useAdapters(workspace)
	workspace.UseModels(secondModels(c))
	first, err := beginFrom(cmd.Context(), workspace, a.state)
	if err == nil {
		first, err = a.adapter.setAdapter(cmd.Context(), workspace, first)
	}
	if err == nil {
		first, err = a.mix.setMix(cmd.Context(), workspace, first)
	}
	if err == nil {
		r.shown = true
		err = a.showInterface(cmd.Context(), workspace, first, store, c, settings, r)
	}
	done, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), closeTimeout)
	defer cancel()
	if w := cmd.ErrOrStderr(); isTerminal(w) {
		slow := time.AfterFunc(time.Second, func() {
			_, _ = fmt.Fprintf(w, "saving the conversations (for at most %v)\n", closeTimeout)
		})
		defer slow.Stop()
	}
	return errors.Join(err, workspace.Close(done), e.Close())
}

// rescuePlaces are where the conversations go if the database is taken away while it is
// in use.
func rescuePlaces(dataDir string) []string {
	places := []string{dataDir, filepath.Dir(filepath.Clean(dataDir))}
	if home, err := os.UserHomeDir(); err == nil {
		places = append(places, home)
	}
	return append(places, os.TempDir())
}

// showInterface runs the interface and applies changes of the configuration meanwhile.
func (a *app) showInterface(ctx context.Context, workspace *chat.Workspace, first *chat.Dialogue, store *sessions.Store, c config.Config, settings ui.Settings, r *reopening) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reloads, err := config.Watch(ctx, a.configPath)
	if err != nil {
		reloads = nil // the system cannot watch files: a change takes effect at the next start
	}
	changed := make(chan ui.Settings)
	go a.followConfig(ctx, reloads, workspace, store, changed)
	a.takesInterrupts.Store(settings.Plain())
	defer a.takesInterrupts.Store(false)
	return ui.Run(ctx, ui.Options{
		Workspace: workspace, First: first, Settings: settings, Reload: changed, Version: version, DataDir: c.Storage.DataDir,
		SaveSampling: func(name string, p sampler.Params) error { return a.saveSampling(workspace, name, p) },
		Surroundings: surroundings(ctx, workspace, store), Problem: r.problem,
		Models: func(context.Context) ([]ui.ModelFile, error) { return modelFiles(c, runsOnCPU(workspace)) },
		Reopen: func(path string) { r.next = &path },
	})
}

// saveSampling writes parameters into the configuration: as a preset or, with an
// empty name, as the parameters of new conversations. It also sets them in the
// workspace, because the watch of the file reports a tenth of a second later or never.
func (a *app) saveSampling(workspace *chat.Workspace, name string, p sampler.Params) error {
	save := func() error { return config.SavePreset(a.configPath, name, p) }
	if name == "" {
		save = func() error { return config.SaveSampling(a.configPath, p) }
	}
	if err := save(); err != nil {
		return err
	}
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	d, err := chatDefaults(c, workspace.Engine().Model())
	if err == nil {
		workspace.SetDefaults(d)
	}
	return err
}

// followConfig applies each changed configuration to the workspace and the store, and
// sends the settings of the interface to changed.
func (a *app) followConfig(ctx context.Context, reloads <-chan config.Reload, workspace *chat.Workspace, store *sessions.Store, changed chan<- ui.Settings) {
	for r := range reloads {
		settings, err := a.applyReload(r, workspace, store)
		if err != nil {
			settings = ui.Settings{Err: err}
		}
		select {
		case changed <- settings:
		case <-ctx.Done():
			return
		}
	}
}

func (a *app) applyReload(r config.Reload, workspace *chat.Workspace, store *sessions.Store) (ui.Settings, error) {
	if r.Err != nil {
		return ui.Settings{}, r.Err
	}
	c, err := a.applyFlags(r.Config)
	if err != nil {
		return ui.Settings{}, err
	}
	d, err := chatDefaults(c, workspace.Engine().Model())
	if err != nil {
		return ui.Settings{}, err
	}
	settings := uiSettings(c)
	if err := settings.Validate(); err != nil {
		return ui.Settings{}, err
	}
	workspace.SetDefaults(d)
	workspace.SetMemory(int64(c.Storage.MemoryBudget))
	store.SetRetention(retention(c))
	return settings, nil
}

// retention is what the configuration says about stored states.
func retention(c config.Config) sessions.Retention {
	return sessions.Retention{Budget: int64(c.Storage.SnapshotBudget)}
}

func uiSettings(c config.Config) ui.Settings {
	return ui.Settings{
		Theme: c.UI.Theme, Appearance: c.UI.Appearance, Keys: c.Keys,
		Presets: ownPresets(c),
		Mouse:   c.UI.Mouse, Bell: c.UI.Bell, ScreenReader: c.UI.ScreenReader,
	}
}
