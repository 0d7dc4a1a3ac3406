package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer/load"
	"rookery/untrusted"
)

// stateTemplate begins the names of templates of states.
const stateTemplate = "state:"

// stateSpecs are how states are spoken to, by their names.
func stateSpecs(c config.Config) map[string]prompt.Spec {
	specs := map[string]prompt.Spec{}
	for name, spec := range c.Templates {
		if state, ok := strings.CutPrefix(name, stateTemplate); ok {
			specs[state] = spec
		}
	}
	return specs
}

// templateName is what a model file is called in [templates].
func templateName(path string) string {
	base := filepath.Base(path)
	for _, ending := range []string{".pth", ".pt", ".st", ".safetensors", ".gguf", ".bin"} {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return name
		}
	}
	return load.ModelName(path)
}

// findSpec is what a person says of a model file.
func findSpec(c config.Config, path string) (spec prompt.Spec, ok bool) {
	if spec, ok = c.Templates[templateName(path)]; !ok {
		spec, ok = c.Templates[load.ModelName(path)]
	}
	return spec, ok
}

// templateMetadata is the entry of a model's metadata with what a person says of it.
func templateMetadata(c config.Config, path string) map[string]string {
	spec, ok := findSpec(c, path)
	if !ok {
		return nil
	}
	text, err := json.Marshal(spec)
	if err != nil { // strings alone
		panic("rookery: " + err.Error())
	}
	return map[string]string{prompt.SpecKey: string(text)}
}

// A templateFlags is what `models template` and `states template` change.
type templateFlags struct {
	family, user, assistant, system, preset, file string
	stops, think                                  []string
	clear                                         bool
}

func (f *templateFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.family, "family", "", "world or g1")
	fs.StringVar(&f.user, "user", "", "heading of prompts, such as User")
	fs.StringVar(&f.assistant, "assistant", "", "heading of answers, such as Assistant")
	fs.StringVar(&f.system, "system-role", "", "heading of the system prompt")
	fs.StringVar(&f.preset, "preset", "", "sampling preset of new conversations")
	fs.StringVar(&f.file, "file", "", "read a Go template over turns from a file")
	fs.StringArrayVar(&f.stops, "stop", nil, "end answers at this text; may be repeated")
	fs.StringSliceVar(&f.think, "think", nil, "thinking modes that it was trained for")
	fs.BoolVar(&f.clear, "clear", false, "forget what was set")
}

// change changes a spec as the flags say.
func (f *templateFlags) change(cmd *cobra.Command, s prompt.Spec) (prompt.Spec, error) {
	if f.clear {
		s = prompt.Spec{}
	}
	for _, one := range []struct {
		flag, value string
		into        *string
	}{
		{"family", f.family, &s.Family},
		{"user", f.user, &s.User},
		{"assistant", f.assistant, &s.Assistant},
		{"system-role", f.system, &s.System},
		{"preset", f.preset, &s.Preset},
	} {
		if cmd.Flags().Changed(one.flag) {
			*one.into = one.value
		}
	}
	if f.file != "" {
		data, err := untrusted.Read(cmd.Context(), f.file, 1<<20)
		if err != nil {
			return s, fmt.Errorf("reading the template: %w", err)
		}
		s.Template = string(data)
	}
	if f.stops != nil {
		s.Stops = f.stops
	}
	if f.think != nil {
		s.Think = nil
		for _, mode := range f.think {
			s.Think = append(s.Think, turn.ThinkMode(mode))
		}
	}
	return s, s.Check()
}

// templateCommand sets how a model or a state is spoken to; name makes its name in
// the configuration.
func templateCommand(a *app, use, short string, name func(arg string) string) *cobra.Command {
	var flags templateFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.loadConfig()
			if err != nil {
				return err
			}
			key := name(args[0])
			changed, err := flags.change(cmd, c.Templates[key])
			if err != nil {
				return exitWith(exitUsage, err)
			}
			if cmd.Flags().NFlag() > 0 {
				if err := config.SaveTemplate(a.configPath, key, changed); err != nil {
					return err
				}
			}
			return printSpec(cmd.OutOrStdout(), key, changed)
		},
	}
	flags.add(cmd)
	return cmd
}

// printSpec says what is set.
func printSpec(out io.Writer, name string, s prompt.Spec) error {
	if s.IsZero() {
		_, err := fmt.Fprintf(out, "%s: nothing is set by hand\n", name)
		return err
	}
	w := newTable(out)
	w.fact("template of", "%s", name)
	for _, f := range s.Facts() {
		w.fact(f[0], "%s", f[1])
	}
	return w.Flush()
}
