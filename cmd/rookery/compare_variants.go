package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"rookery/config"
	"rookery/infer/sampler"
	"rookery/untrusted"
)

// maxVariants limits the variants of one comparison.
const maxVariants = 64

// A variantSpec is a variant as a person writes it.
type variantSpec struct {
	Name     string
	Model    string // "" is that of --model
	State    string
	Adapter  string
	Strength *float32 // of the adapter
	Mix      string
	Preset   string
	Sampling sampler.Changes // what differs from the preset
}

// text is the field of a key that takes any text, or nil.
func (v *variantSpec) text(key string) *string {
	return map[string]*string{
		"name": &v.Name, "model": &v.Model, "state": &v.State, "adapter": &v.Adapter, "mix": &v.Mix, "preset": &v.Preset,
	}[key]
}

// isVariantKey says whether --variant knows a key.
func isVariantKey(key string) bool {
	f, ok := sampler.FindField(key)
	return ok && !f.IsList() || key == "strength" || key != "name" && new(variantSpec).text(key) != nil
}

// variantKeyNames are the keys of --variant for people.
func variantKeyNames() string {
	names := []string{"state", "adapter", "strength", "mix", "model", "preset"}
	for _, f := range sampler.Fields {
		if !f.IsList() {
			names = append(names, cmp.Or(f.Command, f.Name))
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// set puts a value into the field of a key: the text of a command line, or what
// a file's decoder returned.
func (v *variantSpec) set(key string, value any) (err error) {
	text, isText := value.(string)
	f, isSampling := sampler.FindField(key)
	switch at := v.text(key); {
	case at != nil && isText:
		*at = text
	case at != nil:
		return fmt.Errorf("%v is not text", value)
	case isSampling:
		var p sampler.Params
		if isText {
			err = f.Parse(&p, text)
		} else {
			err = f.Set(&p, value)
		}
		v.Sampling = v.Sampling.With(f, p)
	case key == "strength":
		x, err := strconv.ParseFloat(fmt.Sprint(value), 32)
		if err != nil {
			return fmt.Errorf("%q is not a number", fmt.Sprint(value))
		}
		strength := float32(x)
		v.Strength = &strength
	default:
		return errors.New("there is no such key")
	}
	return err
}

// variantOf makes a variant of a table of a file.
func variantOf(table map[string]any) (v variantSpec, err error) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if err := v.set(key, table[key]); err != nil {
			return v, fmt.Errorf("variant.%s: %w", key, err)
		}
	}
	return v, nil
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
		case ok && isVariantKey(key):
			keys, values = append(keys, key), append(values, strings.TrimSpace(value))
		case len(keys) > 0 && keys[len(keys)-1] == "mix":
			values[len(values)-1] += "," + strings.TrimSpace(part)
		case strings.TrimSpace(part) != "":
			return v, fmt.Errorf("variant %s: %q is none of %s with a value", v.Name, strings.TrimSpace(part), variantKeyNames())
		}
	}
	for i, key := range keys {
		if err := v.set(key, values[i]); err != nil {
			return v, fmt.Errorf("variant %s: %s: %w", v.Name, key, err)
		}
	}
	return v, nil
}

// readVariants reads a file of variants: TOML with [[variant]] tables, or a
// JSON array of objects, both with the keys of variantOf.
func readVariants(ctx context.Context, path string) ([]variantSpec, error) {
	const most = 1 << 20
	data, err := untrusted.Read(ctx, path, most)
	if err != nil {
		return nil, err
	}
	var tables []map[string]any
	if strings.EqualFold(filepath.Ext(path), ".json") {
		in := json.NewDecoder(bytes.NewReader(data))
		in.UseNumber()
		if err = in.Decode(&tables); err == nil && in.More() {
			err = errors.New("more follows after the array")
		}
	} else {
		var file struct {
			Variant []map[string]any `toml:"variant"`
		}
		var meta toml.MetaData
		if meta, err = config.Decode(data, &file); err == nil && len(meta.Undecoded()) > 0 {
			err = fmt.Errorf("there is no key %q", meta.Undecoded()[0].String())
		}
		tables = file.Variant
	}
	list := make([]variantSpec, len(tables))
	for i, table := range tables {
		if err == nil {
			list[i], err = variantOf(table)
		}
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
