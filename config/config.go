package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/adrg/xdg"

	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/untrusted"
)

// A Config is the whole configuration. config.example.toml says what each key means.
// The zero value is not valid: start from Default.
type Config struct {
	Model    Model                      `toml:"model"`
	Engine   Engine                     `toml:"engine"`
	Chat     Chat                       `toml:"chat"`
	Sampling sampler.Changes            `toml:"sampling"` // over the preset
	Presets  map[string]sampler.Changes `toml:"presets"`
	UI       UI                         `toml:"ui"`
	Keys     map[string][]string        `toml:"keys"`
	Storage  Storage                    `toml:"storage"`

	Templates map[string]prompt.Spec `toml:"templates"` // by the name of a model, or of a state behind "state:"
}

// Model names the model to run.
type Model struct {
	Path  string `toml:"path"`
	Vocab string `toml:"vocab"`
}

// Engine says how to run it.
type Engine struct {
	Backend string `toml:"backend"`
	Threads int    `toml:"threads"`
	Weights string `toml:"weights"`
	State   string `toml:"state"`
	Slots   int    `toml:"slots"`
	Chunk   int    `toml:"chunk"`
}

// Chat holds the settings of new conversations.
type Chat struct {
	System       string   `toml:"system"`
	Think        string   `toml:"think"`
	Preset       string   `toml:"preset"`
	MaxTokens    int      `toml:"max_tokens"`
	KeepThoughts bool     `toml:"keep_thoughts"`
	ForceThought bool     `toml:"force_thought"`
	ThoughtLimit int      `toml:"thought_tokens"`
	Stops        []string `toml:"stops"`
}

// UI is the look and feel of the chat.
type UI struct {
	Theme        string `toml:"theme"`
	Appearance   string `toml:"appearance"`
	Mouse        bool   `toml:"mouse"`
	Bell         bool   `toml:"bell"`
	ScreenReader bool   `toml:"screen_reader"`
}

// Storage says where conversations are kept, and how much room their states may take.
type Storage struct {
	DataDir        string `toml:"data_dir"`
	SnapshotBudget Bytes  `toml:"snapshot_budget"`
	MemoryBudget   Bytes  `toml:"memory_budget"`
	SlotBudget     Bytes  `toml:"slot_budget"`
}

// Default returns the configuration without a file.
func Default() Config {
	return Config{
		Engine:   Engine{Backend: "auto", Weights: "auto", State: "fp32", Slots: 256},
		Chat:     Chat{Think: "off"},
		Sampling: sampler.Changes{}, Presets: map[string]sampler.Changes{}, Templates: map[string]prompt.Spec{},
		UI:      UI{Theme: "ansi", Appearance: "auto", Mouse: true},
		Keys:    map[string][]string{},
		Storage: Storage{DataDir: filepath.Join(xdg.DataHome, "rookery"), SnapshotBudget: 2e9, MemoryBudget: 1e9, SlotBudget: 256e6},
	}
}

// DefaultPath returns the path of the configuration if none is named.
func DefaultPath() string { return filepath.Join(xdg.ConfigHome, "rookery", "config.toml") }

// Load reads the file at path over the defaults; "" is DefaultPath. A missing file is an
// error only if path names it.
func Load(path string) (Config, error) {
	named := path != ""
	if !named {
		path = DefaultPath()
	}
	data, err := untrusted.Read(context.Background(), path, maxFile)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return Default(), nil
	}
	if err != nil {
		return Default(), fmt.Errorf("reading the configuration: %w", err)
	}
	return Parse(path, data)
}

// Parse reads data over the defaults; error messages begin with name.
func Parse(name string, data []byte) (Config, error) {
	c := Default()
	meta, err := Decode(data, &c)
	if err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			return Default(), fmt.Errorf("%s:%d: %s", name, pe.Position.Line, pe.Message)
		}
		return Default(), fmt.Errorf("%s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Default(), unknownKey(name, data, strings.Join(unknown[0], "."))
	}
	if err := c.normaliseSampling(name, data); err != nil {
		return Default(), err
	}
	if err := c.Validate(); err != nil {
		return Default(), fmt.Errorf("%s: %w", name, err)
	}
	c.Storage.DataDir = expandHome(c.Storage.DataDir)
	c.Model.Path = expandHome(c.Model.Path)
	c.Model.Vocab = expandHome(c.Model.Vocab)
	return c, nil
}

// oneOf lists the values that a key may have.
type oneOf struct {
	key, value string
	words      []string
}

// Validate checks the values; the error is one line.
func (c Config) Validate() error {
	for _, o := range []oneOf{
		{"engine.backend", c.Engine.Backend, []string{"auto", "cpu", "cuda"}},
		{"engine.weights", c.Engine.Weights, []string{"auto", "fp32", "fp16", "bf16", "int8"}},
		{"engine.state", c.Engine.State, []string{"fp32", "fp16"}},
		{"chat.think", c.Chat.Think, []string{"off", "fast", "free", "en", "short", "long", "chinese"}},
		{"ui.appearance", c.UI.Appearance, []string{"auto", "dark", "light"}},
	} {
		if err := o.check(); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		key             string
		value, min, max int
	}{
		{"engine.threads", c.Engine.Threads, 0, 1024},
		{"engine.slots", c.Engine.Slots, 1, 1 << 16},
		{"engine.chunk", c.Engine.Chunk, 0, 1 << 16},
		{"chat.max_tokens", c.Chat.MaxTokens, 0, 1 << 30},
		{"chat.thought_tokens", c.Chat.ThoughtLimit, 0, 1 << 30},
	} {
		if n.value < n.min || n.value > n.max {
			return fmt.Errorf("%s is %d; it must be between %d and %d", n.key, n.value, n.min, n.max)
		}
	}
	if c.Storage.DataDir == "" {
		return errors.New("storage.data_dir is empty; remove the key to use the default place")
	}
	for name, spec := range c.Templates {
		if err := spec.Check(); err != nil {
			return fmt.Errorf("templates.%s: %w", name, err)
		}
	}
	for name := range c.Presets {
		if _, err := c.Preset(name); err != nil {
			return err
		}
	}
	if _, err := c.Sampling.Over(sampler.Neutral()); err != nil {
		return fmt.Errorf("sampling: %w", err)
	}
	return nil
}

// normaliseSampling checks the sampling parameters of every table and gives
// them the types of sampler.Params.
func (c Config) normaliseSampling(name string, data []byte) error {
	check := func(table string, changes sampler.Changes) error {
		key, err := changes.Normalise()
		if err == nil {
			return nil
		}
		key = table + "." + key
		if errors.Is(err, sampler.ErrUnknown) {
			return unknownKey(name, data, key)
		}
		return fmt.Errorf("%s:%d: %s: %w", name, lineOf(data, key), key, err)
	}
	for _, preset := range slices.Sorted(maps.Keys(c.Presets)) {
		if err := check("presets."+preset, c.Presets[preset]); err != nil {
			return err
		}
	}
	return check("sampling", c.Sampling)
}

func unknownKey(name string, data []byte, key string) error {
	return fmt.Errorf("%s:%d: unknown key %q; config.example.toml lists all keys", name, lineOf(data, key), key)
}

// Preset returns one of the person's own presets. A parameter that it does not set
// leaves the model's probabilities as they are.
func (c Config) Preset(name string) (sampler.Params, error) {
	p, err := c.Presets[name].Over(sampler.Neutral())
	if err != nil {
		return p, fmt.Errorf("presets.%s: %w", name, err)
	}
	return p, nil
}

func (o oneOf) check() error {
	for _, w := range o.words {
		if o.value == w {
			return nil
		}
	}
	return fmt.Errorf("%s is %q; it must be one of %q", o.key, o.value, o.words)
}

func expandHome(path string) string {
	if path == "~" {
		return xdg.Home
	}
	if len(path) > 1 && path[0] == '~' && os.IsPathSeparator(path[1]) {
		return filepath.Join(xdg.Home, path[2:])
	}
	return path
}
