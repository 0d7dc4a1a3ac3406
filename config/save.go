package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/untrusted"
)

// SaveSampling makes p the parameters of new conversations: it writes them, but not the
// seed and the banned tokens, into section [sampling] of the configuration file at path
// (DefaultPath if ""). It keeps everything else in the file, comments included, and
// makes the file if there is none.
func SaveSampling(path string, p sampler.Params) error {
	return saveSection(path, "sampling", p, func(c *Config) { c.Sampling = c.Sampling.WithRecipe(p) })
}

// SavePreset does the same in section [presets.NAME].
func SavePreset(path, name string, p sampler.Params) error {
	return saveSection(path, "presets."+bareOrQuoted(name), p, func(c *Config) {
		c.Presets[name] = c.Presets[name].WithRecipe(p)
	})
}

// SaveTemplate writes how a model or a state is spoken to into section
// [templates.NAME], and leaves the rest of the file as it is.
func SaveTemplate(path, name string, s prompt.Spec) error {
	if err := s.Check(); err != nil {
		return err
	}
	var lines []setting
	for _, f := range []struct {
		key   string
		value any
		empty bool
	}{
		{"family", s.Family, s.Family == ""},
		{"user", s.User, s.User == ""},
		{"assistant", s.Assistant, s.Assistant == ""},
		{"system", s.System, s.System == ""},
		{"stops", s.Stops, s.Stops == nil},
		{"think", s.Think, s.Think == nil},
		{"preset", s.Preset, s.Preset == ""},
		{"template", s.Template, s.Template == ""},
	} {
		if f.empty {
			lines = append(lines, setting{key: f.key})
			continue
		}
		text, err := toml.Marshal(map[string]any{f.key: f.value})
		if err != nil {
			return fmt.Errorf("writing the template: %w", err)
		}
		lines = append(lines, setting{f.key, strings.TrimSpace(string(text))})
	}
	return writeSection(path, "templates."+bareOrQuoted(name), lines, func(c *Config) { c.Templates[name] = s })
}

// saveSection edits the lines of one section. It writes the result only if that parses
// to the parameters and changes nothing else; put changes the configuration likewise.
func saveSection(path, section string, p sampler.Params, put func(*Config)) error {
	if err := p.Validate(); err != nil {
		return err
	}
	return writeSection(path, section, parameters(p), put)
}

// writeSection is saveSection of any lines.
func writeSection(path, section string, lines []setting, put func(*Config)) error {
	if path == "" {
		path = DefaultPath()
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	before, err := untrusted.Read(context.Background(), path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	want, err := Parse(path, before)
	if err != nil {
		return fmt.Errorf("the configuration was not changed: %w", err)
	}
	put(&want)
	edited := editSection(before, section, lines)
	if got, err := Parse(path, edited); err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s is written in a way that cannot be changed safely; put this into its section [%s]: %s",
			path, section, strings.ReplaceAll(strings.TrimSpace(formatLines(lines)), "\n", ", "))
	}
	return replaceFile(path, edited)
}

// A setting is one line of a section; an empty one is taken away.
type setting struct{ key, line string }

// parameters are the lines that set the recipe of p.
func parameters(p sampler.Params) (settings []setting) {
	for _, f := range sampler.Fields {
		if f.Recipe {
			settings = append(settings, setting{f.Name, f.TOML(p)})
		}
	}
	return settings
}

func formatLines(settings []setting) string {
	var b strings.Builder
	for _, s := range settings {
		if s.line != "" {
			b.WriteString(s.line + "\n")
		}
	}
	return b.String()
}

// editSection puts settings into a section of a file: in place of the lines that set
// the same keys, or else right below the section's heading. It adds a missing section
// at the end.
func editSection(data []byte, section string, settings []setting) []byte {
	text := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(bytes.TrimSpace(data)) == 0 {
		text = nil
	}
	start := -1
	for i, l := range text {
		if heading(l) == normalizeKey(section) {
			start = i
			break
		}
	}
	if start < 0 {
		if len(text) > 0 {
			text = append(text, "")
		}
		return []byte(strings.Join(append(text, "["+section+"]\n"), "\n") + formatLines(settings))
	}
	end := start + 1
	for end < len(text) && heading(text[end]) == "" {
		end++
	}
	body, missing := text[start+1:end], []setting{}
	for _, s := range settings {
		if !setKey(body, s) && s.line != "" {
			missing = append(missing, s)
		}
	}
	out := append([]string(nil), text[:start+1]...)
	if len(missing) > 0 {
		out = append(out, strings.TrimSuffix(formatLines(missing), "\n"))
	}
	out = append(append(out, body...), text[end:]...)
	return []byte(strings.Join(out, "\n") + "\n")
}

// heading returns the table whose heading the line is, or "".
func heading(line string) string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, "[[") {
		return ""
	}
	name, _, ok := strings.Cut(line[1:], "]")
	if !ok {
		return ""
	}
	return normalizeKey(name)
}

// setKey replaces the line that sets the key of s, and reports whether there is one.
func setKey(body []string, s setting) bool {
	for i, l := range body {
		if name, _, ok := strings.Cut(l, "="); ok && normalizeKey(name) == s.key {
			body[i] = s.line
			return true
		}
	}
	return false
}

// bareOrQuoted returns a name as TOML writes it in a dotted key.
func bareOrQuoted(name string) string {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return strconv.Quote(name)
		}
	}
	return name
}

// replaceFile writes a file at once: a reader sees the old content or the new one.
func replaceFile(path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("saving the configuration: %w", err)
	}
	f, err := os.CreateTemp(dir, ".config-*.toml")
	if err != nil {
		return fmt.Errorf("saving the configuration: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("saving the configuration: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
