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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/load"
	"rookery/infer/sampler"
)

// An app is what the subcommands share: where the configuration is, and which
// flags were put over it.
type app struct {
	configPath string
	overrides  []func(*config.Config)
	state      string       // name of the state that the chat's new conversation begins from
	adapter    adapterFlags // of the chat's new conversation
	mix        mixFlag
}

// flag adds a flag that, when given, is parsed and put over the configuration.
func flag[T any](a *app, fs *pflag.FlagSet, name, short, usage string, parse func(string) (T, error), set func(*config.Config, T)) {
	fs.VarP(&value{usage: usage, set: func(text string) error {
		v, err := parse(text)
		if err != nil {
			return err
		}
		a.overrides = append(a.overrides, func(c *config.Config) { set(c, v) })
		return nil
	}}, name, short, usage)
}

// value implements pflag.Value for flag.
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
	flag(a, fs, "data-dir", "", "where conversations are kept", parseText, func(c *config.Config, v string) { c.Storage.DataDir = v })
}

func (a *app) modelFlags(fs *pflag.FlagSet) {
	flag(a, fs, "model", "m", "model file (.pth or .safetensors); the embedded demonstration model if not given", parseText, func(c *config.Config, v string) { c.Model.Path = v })
	flag(a, fs, "vocab", "", "vocabulary file in the World format", parseText, func(c *config.Config, v string) { c.Model.Vocab = v })
	flag(a, fs, "backend", "", "what runs the model: auto, cpu or cuda", parseText, func(c *config.Config, v string) { c.Engine.Backend = v })
	flag(a, fs, "threads", "t", "worker threads; 0 is one for each core", parseInt, func(c *config.Config, v int) { c.Engine.Threads = v })
	flag(a, fs, "weights", "w", "width of the weights: auto, fp32, fp16, bf16 or int8", parseText, func(c *config.Config, v string) { c.Engine.Weights = v })
	flag(a, fs, "state-width", "", "width of the states on a GPU: fp32 or fp16", parseText, func(c *config.Config, v string) { c.Engine.State = v })
}

func (a *app) chatFlags(fs *pflag.FlagSet) {
	flag(a, fs, "system", "s", "system prompt of new conversations", parseText, func(c *config.Config, v string) { c.Chat.System = v })
	flag(a, fs, "think", "", "thinking: off, fast, free, short, long or chinese", parseText, func(c *config.Config, v string) { c.Chat.Think = v })
	flag(a, fs, "preset", "p", "sampling preset", parseText, func(c *config.Config, v string) { c.Chat.Preset = v })
	flag(a, fs, "max-tokens", "n", "longest answer in tokens; 0 is no limit", parseInt, func(c *config.Config, v int) { c.Chat.MaxTokens = v })
}

func (a *app) samplingFlags(fs *pflag.FlagSet) {
	for _, f := range sampler.Fields {
		if f.Kind() == sampler.Tokens {
			continue
		}
		parse := func(text string) (p sampler.Params, err error) { return p, f.Parse(&p, text) }
		flag(a, fs, strings.ReplaceAll(f.Name, "_", "-"), "", f.Help, parse, func(c *config.Config, p sampler.Params) { c.Sampling = c.Sampling.With(f, p) })
	}
}

func (a *app) uiFlags(fs *pflag.FlagSet) {
	flag(a, fs, "theme", "", "colours", parseText, func(c *config.Config, v string) { c.UI.Theme = v })
	fs.BoolFunc("screen-reader", "plain lines instead of a screen", func(text string) error {
		on, err := strconv.ParseBool(text)
		a.overrides = append(a.overrides, func(c *config.Config) { c.UI.ScreenReader = on })
		return err
	})
}

// chatAllFlags are those of the chat.
func (a *app) chatAllFlags(fs *pflag.FlagSet) {
	a.modelFlags(fs)
	a.chatFlags(fs)
	a.samplingFlags(fs)
	a.uiFlags(fs)
	a.adapter.add(fs, true)
	a.mix.add(fs)
	fs.StringVar(&a.state, "state", "", "begin a new conversation from this state of the library")
}

// config reads the configuration and puts the flags over it.
func (a *app) config() (config.Config, error) {
	c, err := config.Load(a.configPath)
	if err != nil {
		return c, exitWith(exitUsage, err)
	}
	c, err = a.override(c)
	return c, exitWith(exitUsage, err)
}

// override puts the flags over a configuration.
func (a *app) override(c config.Config) (config.Config, error) {
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

// loadModel loads the configured model, showing progress on a terminal.
func loadModel(ctx context.Context, progress io.Writer, c config.Config) (*infer.Model, infer.Backend, error) {
	meter := newMeter(progress)
	m, backend, err := load.Open(ctx, modelSpec(c, meter.note(progress)), func(p load.Progress) {
		meter.show("loading the model", p.Done, p.Total, "weights")
	})
	meter.clear()
	return m, backend, exitWith(exitModel, err)
}

// modelSpec is what the configuration says of loading. note is told why a GPU
// is not used.
func modelSpec(c config.Config, note func(line string)) load.Spec {
	return load.Spec{
		Model:   c.Model.Path,
		Vocab:   c.Model.Vocab,
		Backend: c.Engine.Backend,
		Threads: c.Engine.Threads,
		Weights: c.Engine.Weights,
		State:   c.Engine.State,
		Slots:   c.Engine.Slots,
		Note:    note,
	}
}

// defaults are what a new conversation starts with.
func defaults(c config.Config, m *infer.Model) (chat.Defaults, error) {
	d := chat.Defaults{
		System:       c.Chat.System,
		Preset:       c.Chat.Preset,
		Presets:      ownPresets(c),
		Think:        turn.ThinkMode(c.Chat.Think),
		MaxTokens:    c.Chat.MaxTokens,
		Stops:        c.Chat.Stops,
		KeepThoughts: c.Chat.KeepThoughts,
	}
	preset, err := findPreset(prompt.Presets(m, d.Presets...), m, c.Chat.Preset)
	if err != nil {
		return d, exitWith(exitUsage, err)
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

// ownPresets are those of the configuration, by their names. One with the name
// of a preset that comes with the program is left out: that one is meant.
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
	var names []string
	for _, p := range presets {
		if p.Name == name || name == "" {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return prompt.Preset{}, fmt.Errorf("there is no preset %q for %s; it has %q", name, m.Name, names)
}

// isTerminal says whether a stream is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && isatty(file)
}
