package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"rookery/infer/sampler"
)

// SaveSampling makes p what new conversations begin with: it writes the
// parameters, but not the seed and the banned tokens, into section [sampling] of
// a configuration file (DefaultPath if path is empty). All else in the file,
// comments too, stays as it is. The file is made if there is none.
func SaveSampling(path string, p sampler.Params) error {
	return save(path, "sampling", p, func(c *Config) { c.Sampling = c.Sampling.WithRecipe(p) })
}

// SavePreset is SaveSampling for section [presets.NAME].
func SavePreset(path, name string, p sampler.Params) error {
	return save(path, "presets."+bareOrQuoted(name), p, func(c *Config) {
		c.Presets[name] = c.Presets[name].WithRecipe(p)
	})
}

// save edits the lines of one section, and takes the result only if it says
// what it should and nothing else has changed by it.
func save(path, section string, p sampler.Params, put func(*Config)) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if path == "" {
		path = DefaultPath()
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	want, err := Parse(path, before)
	if err != nil {
		return fmt.Errorf("the configuration was not changed: %w", err)
	}
	put(&want)
	edited := edit(before, section, parameters(p))
	if got, err := Parse(path, edited); err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s is written in a way that cannot be changed safely; put this into its section [%s]: %s",
			path, section, strings.ReplaceAll(strings.TrimSpace(lines(parameters(p))), "\n", ", "))
	}
	return replace(path, edited)
}

// A setting is one line of a section.
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

func lines(settings []setting) string {
	var b strings.Builder
	for _, s := range settings {
		b.WriteString(s.line + "\n")
	}
	return b.String()
}

// edit puts settings into a section of a file: in the place of the lines that
// set the same keys, and otherwise right below the section's heading. A section
// that is missing is added at the end.
func edit(data []byte, section string, settings []setting) []byte {
	text := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(bytes.TrimSpace(data)) == 0 {
		text = nil
	}
	start := -1
	for i, l := range text {
		if heading(l) == normal(section) {
			start = i
			break
		}
	}
	if start < 0 {
		if len(text) > 0 {
			text = append(text, "")
		}
		return []byte(strings.Join(append(text, "["+section+"]\n"), "\n") + lines(settings))
	}
	end := start + 1
	for end < len(text) && heading(text[end]) == "" {
		end++
	}
	body, missing := text[start+1:end], []setting{}
	for _, s := range settings {
		if !set(body, s) {
			missing = append(missing, s)
		}
	}
	out := append([]string(nil), text[:start+1]...)
	if len(missing) > 0 {
		out = append(out, strings.TrimSuffix(lines(missing), "\n"))
	}
	out = append(append(out, body...), text[end:]...)
	return []byte(strings.Join(out, "\n") + "\n")
}

// heading is the table that a line begins, or "".
func heading(line string) string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, "[[") {
		return ""
	}
	name, _, ok := strings.Cut(line[1:], "]")
	if !ok {
		return ""
	}
	return normal(name)
}

// set changes the line that sets a key; it reports whether there is one.
func set(body []string, s setting) bool {
	for i, l := range body {
		if name, _, ok := strings.Cut(l, "="); ok && normal(name) == s.key {
			body[i] = s.line
			return true
		}
	}
	return false
}

// bareOrQuoted is a name as TOML writes it in a dotted key.
func bareOrQuoted(name string) string {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return strconv.Quote(name)
		}
	}
	return name
}

// replace writes a file whole, so that whoever reads it meets the old one or
// the new one.
func replace(path string, data []byte) error {
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
