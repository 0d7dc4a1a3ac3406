package plain

import (
	"context"
	"testing"

	"rookery/infer/adapter"
	"rookery/infer/scripted"
	"rookery/ui/uitest"
)

func TestAdapters(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{Adapted: true})
		w.Workspace.UseAdapters(func(ctx context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error) {
			if path != "" && o.Alpha == 0 {
				return nil, &adapter.QuestionError{Path: path, Asked: "alpha", Problem: "a LoRA file does not say its alpha"}
			}
			return scripted.OpenAdapter(ctx, path, name, o)
		}, scripted.Adapters)
		k := begin(t, w, Options{})
		k.talk("/adapter", "/adapter quill strength=0.5", "hello", "/adapter", "/adapter lora.pth", "/adapter quill alpha=x", "/adapter off")
		k.hears("plume: comes with the model.\n", "/adapter off uses none.\n", "quill × 0.5, from the next token on.\n", " This one is chosen.\n",
			"a LoRA file does not say its alpha", `Error: alpha: "x" is no number`, "No adapter, from the next token on.\n")
		if a := k.d.View().Conversation.Adapter; a != "" {
			t.Errorf("the conversation still uses %s", a)
		}
	})
}
