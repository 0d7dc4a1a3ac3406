package compare

import (
	"context"
	"errors"
	"fmt"

	"rookery/chat"
	"rookery/infer/adapter"
	"rookery/ui/kit"
)

// Prepare makes variants of drafts: it loads their models, which the caller
// releases, and finds their adapters. After an error nothing is held. It blocks.
func Prepare(ctx context.Context, w *chat.Workspace, drafts []Draft, say func(string)) ([]chat.Variant, error) {
	asked := nameDrafts(drafts)
	err := loadModels(ctx, w, drafts, asked, say)
	if err == nil {
		err = loadAdapters(ctx, w, asked)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		ReleaseModels(asked)
	}
	return asked, err
}

// loadAdapters finds the adapters that are known by name alone, each for the
// model of its variant.
func loadAdapters(ctx context.Context, w *chat.Workspace, asked []chat.Variant) error {
	for i := range asked {
		a := &asked[i].Adapter
		if a.Name == "" || a.Fingerprint != "" {
			continue
		}
		find := w.Adapters().Find
		if second := asked[i].Model; second != nil {
			find = second.Adapters().Find
		}
		found, err := find(ctx, a.Name, adapter.Options{})
		if err != nil {
			return fmt.Errorf("variant %q: %w", asked[i].Name, err)
		}
		*a = found
	}
	return nil
}

// loadModels loads the models that variants need, one after the other. The
// caller releases those of the variants, also after an error.
func loadModels(ctx context.Context, w *chat.Workspace, drafts []Draft, asked []chat.Variant, say func(string)) error {
	for i := range drafts {
		if !drafts[i].ofOtherModel() {
			continue
		}
		name := kit.OneLine(drafts[i].File.Name)
		say("Loading " + name + ".")
		model, err := w.LoadSecondModel(ctx, drafts[i].File.Path, func(done, total int64) {
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
