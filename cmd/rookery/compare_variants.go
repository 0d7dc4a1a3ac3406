package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"rookery/config"
)

// maxVariants limits the variants of one comparison.
const maxVariants = 64

// A variantSpec is a variant as a person writes it.
type variantSpec struct {
	Name     string   `toml:"name" json:"name"`
	Model    string   `toml:"model" json:"model,omitempty"` // "" is that of --model
	State    string   `toml:"state" json:"state,omitempty"`
	Adapter  string   `toml:"adapter" json:"adapter,omitempty"`
	Strength *float32 `toml:"strength" json:"strength,omitempty"` // of the adapter
	Mix      string   `toml:"mix" json:"mix,omitempty"`
	Preset   string   `toml:"preset" json:"preset,omitempty"`

	config.Sampling // what differs from the preset
}

// variantKeyNames are the keys of variantKeys for people, who may write
// temperature in full.
const variantKeyNames = "state, adapter, strength, mix, model, preset, mode, temp, top_k, top_p, presence, frequency, decay and seed"

// variantKeys set a field of a variantSpec from text.
var variantKeys = map[string]func(v *variantSpec, text string) error{
	"model":       func(v *variantSpec, text string) error { v.Model = text; return nil },
	"state":       func(v *variantSpec, text string) error { v.State = text; return nil },
	"adapter":     func(v *variantSpec, text string) error { v.Adapter = text; return nil },
	"mix":         func(v *variantSpec, text string) error { v.Mix = text; return nil },
	"preset":      func(v *variantSpec, text string) error { v.Preset = text; return nil },
	"mode":        func(v *variantSpec, text string) error { v.Mode = &text; return nil },
	"strength":    number(func(v *variantSpec) **float32 { return &v.Strength }),
	"temp":        number(func(v *variantSpec) **float32 { return &v.Temperature }),
	"temperature": number(func(v *variantSpec) **float32 { return &v.Temperature }),
	"top_p":       number(func(v *variantSpec) **float32 { return &v.TopP }),
	"presence":    number(func(v *variantSpec) **float32 { return &v.Presence }),
	"frequency":   number(func(v *variantSpec) **float32 { return &v.Frequency }),
	"decay":       number(func(v *variantSpec) **float32 { return &v.Decay }),
	"top_k":       parsed(parseInt, func(v *variantSpec) **int { return &v.TopK }),
	"seed":        parsed(parseSeed, func(v *variantSpec) **uint64 { return &v.Seed }),
}

func number(field func(*variantSpec) **float32) func(*variantSpec, string) error {
	return parsed(parseFloat, field)
}

func parsed[T any](parse func(string) (T, error), field func(*variantSpec) **T) func(*variantSpec, string) error {
	return func(v *variantSpec, text string) error {
		value, err := parse(text)
		*field(v) = &value
		return err
	}
}

// parseVariant reads "name: key=value, key=value". A part without a key of ours
// belongs to the value before it, so that a mix needs no quotes.
func parseVariant(text string) (v variantSpec, err error) {
	name, rest, _ := strings.Cut(text, ":")
	v.Name = strings.TrimSpace(name)
	if v.Name == "" {
		return v, fmt.Errorf("variant %q has no name: write \"name: key=value, ...\"", text)
	}
	var keys, values []string
	for part := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(strings.ReplaceAll(key, "-", "_"))
		switch {
		case ok && variantKeys[key] != nil:
			keys, values = append(keys, key), append(values, strings.TrimSpace(value))
		case len(keys) > 0 && keys[len(keys)-1] == "mix":
			values[len(values)-1] += "," + strings.TrimSpace(part)
		case strings.TrimSpace(part) != "":
			return v, fmt.Errorf("variant %s: %q is none of %s with a value", v.Name, strings.TrimSpace(part), variantKeyNames)
		}
	}
	for i, key := range keys {
		if err := variantKeys[key](&v, values[i]); err != nil {
			return v, fmt.Errorf("variant %s: %s: %w", v.Name, key, err)
		}
	}
	return v, nil
}

// readVariants reads a file of variants: TOML with [[variant]] tables, or a
// JSON array of objects, both with the keys of variantSpec.
func readVariants(path string) ([]variantSpec, error) {
	const most = 1 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(data) > most {
		return nil, fmt.Errorf("%s is longer than %s, too long for a file of variants", path, bytesText(most))
	}
	var list []variantSpec
	if strings.EqualFold(filepath.Ext(path), ".json") {
		in := json.NewDecoder(bytes.NewReader(data))
		in.DisallowUnknownFields()
		if err = in.Decode(&list); err == nil && in.More() {
			err = errors.New("more follows after the array")
		}
	} else {
		var file struct {
			Variant []variantSpec `toml:"variant"`
		}
		var meta toml.MetaData
		if meta, err = toml.Decode(string(data), &file); err == nil && len(meta.Undecoded()) > 0 {
			err = fmt.Errorf("there is no key %q", meta.Undecoded()[0].String())
		}
		list = file.Variant
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// checkVariants checks the variants of a comparison together.
func checkVariants(list []variantSpec) error {
	if len(list) == 0 || len(list) > maxVariants {
		return fmt.Errorf("compare 1 to %d variants, not %d: name each with --variant \"name: key=value, ...\"", maxVariants, len(list))
	}
	seen := map[string]bool{}
	for i, v := range list {
		if v.Name == "" {
			return fmt.Errorf("variant %d has no name", i+1)
		}
		if seen[v.Name] {
			return fmt.Errorf("two variants are called %q", v.Name)
		}
		seen[v.Name] = true
	}
	return nil
}
