package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rookery/chat"
	"rookery/ui/kit"
)

// noOtherModels says why there is nothing to choose a model from.
const noOtherModels = "There is no other model: put files into the folder of models, see /models."

// OtherModels are those that drafts need besides the conversations' own.
func OtherModels(drafts []Draft) []kit.ModelFile {
	var list []kit.ModelFile
	for _, d := range drafts {
		if d.ofOtherModel() && !slices.ContainsFunc(list, func(f kit.ModelFile) bool { return f.Path == d.File.Path }) {
			list = append(list, d.File)
		}
	}
	return list
}

// FitModels says what models take together, or why they do not fit into memory.
func FitModels(files []kit.ModelFile) (string, error) {
	var needs, free int64
	var names []string
	for _, f := range files {
		name := kit.OneLine(f.Name)
		if f.Needs > 0 {
			name += " " + kit.FormatSize(f.Needs)
		}
		names, needs = append(names, name), needs+f.Needs
		if f.Free > 0 {
			free = f.Free
		}
	}
	said := strings.Join(names, ", ")
	if free == 0 {
		return said + ".", nil
	}
	if needs > free {
		return "", fmt.Errorf("%s: that does not fit into the %s of memory that are free; choose fewer models, or smaller ones", said, kit.FormatSize(free))
	}
	return fmt.Sprintf("%s. %s of memory are free.", said, kit.FormatSize(free)), nil
}

// loadModels loads the models that variants need, one after the other. The
// caller releases those of the variants, also after an error.
func loadModels(ctx context.Context, l Loader, drafts []Draft, asked []chat.Variant, say func(string)) error {
	for i := range drafts {
		if !drafts[i].ofOtherModel() {
			continue
		}
		name := kit.OneLine(drafts[i].File.Name)
		say("Loading " + name + ".")
		model, err := l.LoadSecondModel(ctx, drafts[i].File.Path, func(done, total int64) {
			if total > 0 {
				say(fmt.Sprintf("Loading %s: %d%%", name, 100*done/total))
			}
		})
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			return fmt.Errorf("variant %q: %w", asked[i].Name, err)
		}
		asked[i].Model = model
	}
	return nil
}

// ReleaseModels gives back the models of variants.
func ReleaseModels(asked []chat.Variant) {
	for _, v := range asked {
		if v.Model != nil {
			v.Model.Release()
		}
	}
}

// retainModels holds the models of variants that are still there, and gives the
// variants of those.
func retainModels(asked []chat.Variant) (held []chat.Variant) {
	for _, v := range asked {
		if v.Model != nil && v.Model.Retain() {
			held = append(held, v)
		}
	}
	return held
}
