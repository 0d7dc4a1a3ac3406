package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/load"
	"rookery/infer/sampler"
	"rookery/ui/terminal"
)

// An app holds what the subcommands share: the path of the configuration, and the
// flags that override it.
type app struct {
	configPath string
	overrides  []func(*config.Config)
	state      string       // name of the base state of the chat's new conversation
	adapter    adapterFlags // of the chat's new conversation
	mix        mixFlag

	takesInterrupts atomic.Bool // the line mode runs, which says itself what ctrl+c does
}

// addFlag adds a flag that overrides the configuration.
func addFlag[T any](a *app, fs *pflag.FlagSet, name, short, usage string, parse func(string) (T, error), set func(*config.Config, T)) {
	fs.VarP(&value{usage: usage, set: func(text string) error {
		v, err := parse(text)
		if err != nil {
			return err
		}
		a.overrides = append(a.overrides, func(c *config.Config) { set(c, v) })
		return nil
	}}, name, short, usage)
}

// value implements pflag.Value for addFlag.
type value struct {
	text, usage string
	set         func(string) error
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return "value" }
func (v *value) Set(text string) error {
	v.text = text
	return v.set(text)
}

func parseText(s string) (string, error) { return s, nil }

func parseInt(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, errors.New("it must be a whole number")
	}
	return n, nil
}

func (a *app) globalFlags(fs *pflag.FlagSet) {
	fs.StringVar(&a.configPath, "config", "", "configuration file (default "+config.DefaultPath()+")")
	addFlag(a, fs, "data-dir", "", "directory of the conversations", parseText, func(c *config.Config, v string) { c.Storage.DataDir = v })
}

func (a *app) modelFlags(fs *pflag.FlagSet) {
	addFlag(a, fs, "model", "m", "model file: .pth, .safetensors or .gguf (default the embedded demonstration model)", parseText, func(c *config.Config, v string) { c.Model.Path = v })
	addFlag(a, fs, "vocab", "", "vocabulary file in the World format", parseText, func(c *config.Config, v string) { c.Model.Vocab = v })
	addFlag(a, fs, "backend", "", "backend that runs the model: auto, cpu or cuda", parseText, func(c *config.Config, v string) { c.Engine.Backend = v })
	addFlag(a, fs, "threads", "t", "number of worker threads; 0 is one for each core", parseInt, func(c *config.Config, v int) { c.Engine.Threads = v })
	addFlag(a, fs, "weights", "w", "width of the weights: auto, fp32, fp16, bf16 or int8", parseText, func(c *config.Config, v string) { c.Engine.Weights = v })
	addFlag(a, fs, "state-width", "", "width of the states on a GPU: fp32 or fp16", parseText, func(c *config.Config, v string) { c.Engine.State = v })
}

func (a *app) chatFlags(fs *pflag.FlagSet) {
	addFlag(a, fs, "system", "s", "system prompt of new conversations", parseText, func(c *config.Config, v string) { c.Chat.System = v })
	addFlag(a, fs, "think", "", "thinking mode: off, fast, free, en, short, long…", parseText, func(c *config.Config, v string) { c.Chat.Think = v })
	addFlag(a, fs, "preset", "p", "sampling preset", parseText, func(c *config.Config, v string) { c.Chat.Preset = v })
	addFlag(a, fs, "max-tokens", "n", "longest answer in tokens; 0 is no limit", parseInt, func(c *config.Config, v int) { c.Chat.MaxTokens = v })
}

func (a *app) samplingFlags(fs *pflag.FlagSet) {
	for _, f := range sampler.Fields {
		if f.Kind() == sampler.Tokens {
			continue
		}
		parse := func(text string) (p sampler.Params, err error) { return p, f.Parse(&p, text) }
		addFlag(a, fs, strings.ReplaceAll(f.Name, "_", "-"), "", f.Help, parse, func(c *config.Config, p sampler.Params) { c.Sampling = c.Sampling.With(f, p) })
	}
}

func (a *app) uiFlags(fs *pflag.FlagSet) {
	addFlag(a, fs, "theme", "", "theme of colours; rookery doctor lists them", parseText, func(c *config.Config, v string) { c.UI.Theme = v })
	fs.BoolFunc("screen-reader", "print plain lines instead of a screen", func(text string) error {
		on, err := strconv.ParseBool(text)
		a.overrides = append(a.overrides, func(c *config.Config) { c.UI.ScreenReader = on })
		return err
	})
}

// chatAllFlags adds the flags of the chat.
func (a *app) chatAllFlags(fs *pflag.FlagSet) {
	a.modelFlags(fs)
	a.chatFlags(fs)
	a.samplingFlags(fs)
	a.uiFlags(fs)
	a.adapter.addTo(fs, true)
	a.mix.addTo(fs)
	fs.StringVar(&a.state, "state", "", "state of the library that a new conversation begins from")
}

// loadConfig reads the configuration and applies the flags to it.
func (a *app) loadConfig() (config.Config, error) {
	c, err := config.Load(a.configPath)
	if err != nil {
		return c, exitWith(exitUsage, err)
	}
	c, err = a.applyFlags(c)
	return c, exitWith(exitUsage, err)
}

// applyFlags lets the flags override a configuration.
func (a *app) applyFlags(c config.Config) (config.Config, error) {
	for _, set := range a.overrides {
		set(&c)
	}
	return c, c.Validate()
}

// openModel loads the configured model and starts an engine for it.
func openModel(ctx context.Context, cmd *cobra.Command, c config.Config) (*infer.Engine, error) {
	m, backend, err := loadModel(ctx, cmd.ErrOrStderr(), c)
	if err != nil {
		return nil, err
	}
	return infer.NewEngine(m, backend, infer.Options{Chunk: c.Engine.Chunk, Resident: cmp.Or(int64(c.Storage.SlotBudget), -1)}), nil
}

// loadModel loads the configured model and shows the progress on a terminal.
func loadModel(ctx context.Context, progress io.Writer, c config.Config) (*infer.Model, infer.Backend, error) {
	meter := newMeter(progress)
	m, backend, err := load.Open(ctx, modelSpec(c, meter.noteTo(progress)), func(p load.Progress) {
		meter.show("loading the model", p.Done, p.Total, "weights")
	})
	meter.clear()
	return m, backend, exitWith(exitModel, err)
}

// modelSpec returns what the configuration says about loading a model. note gets the
// reason if no GPU is used.
func modelSpec(c config.Config, note func(line string)) load.Spec {
	return load.Spec{
		Model:    c.Model.Path,
		Vocab:    c.Model.Vocab,
		Backend:  c.Engine.Backend,
		Threads:  c.Engine.Threads,
		Weights:  c.Engine.Weights,
		State:    c.Engine.State,
		Slots:    c.Engine.Slots,
		Metadata: templateMetadata(c, c.Model.Path),
		Note:     note,
	}
}

// chatDefaults returns the settings of new conversations.
func chatDefaults(c config.Config, m *infer.Model) (chat.Defaults, error) {
	d := chat.Defaults{
		System:       c.Chat.System,
		Preset:       c.Chat.Preset,
		Presets:      ownPresets(c),
		Think:        turn.ThinkMode(c.Chat.Think),
		MaxTokens:    c.Chat.MaxTokens,
		Stops:        c.Chat.Stops,
		KeepThoughts: c.Chat.KeepThoughts,
		ForceThought: c.Chat.ForceThought,
		ThoughtLimit: c.Chat.ThoughtLimit,
		StateSpecs:   stateSpecs(c),
	}
	preset, err := findPreset(prompt.Presets(m, d.Presets...), m, c.Chat.Preset)
	if err != nil {
		return d, exitWith(exitUsage, err)
	}
	if d.Preset != "" {
		d.Preset = preset.Name
	}
	if len(c.Sampling) > 0 {
		p, err := c.Sampling.Over(preset.Sampling)
		if err != nil {
			return d, exitWith(exitUsage, err)
		}
		d.Sampling = &p
	}
	return d, nil
}

// ownPresets returns the presets of the configuration, sorted by name. It leaves out a
// preset that has the name of one of the program's: the program's is used.
func ownPresets(c config.Config) []prompt.Preset {
	var own []prompt.Preset
	for _, name := range slices.Sorted(maps.Keys(c.Presets)) {
		if p, err := c.Preset(name); err == nil && prompt.CheckPresetName(name) == nil { // Config.Validate has checked the first
			own = append(own, prompt.OwnPreset(name, p))
		}
	}
	return own
}

func findPreset(presets []prompt.Preset, m *infer.Model, name string) (prompt.Preset, error) {
	if name == "" && len(presets) > 0 {
		return presets[0], nil
	}
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	i, err := library.FindName("preset", name, names)
	if err != nil {
		return prompt.Preset{}, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return presets[i], nil
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(f any) bool {
	if _, ok := f.(*terminal.Writer); ok {
		return true
	}
	file, ok := f.(*os.File)
	return ok && isTerminalFile(file)
}
