package panel_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rookery/infer/adapter"
	"rookery/infer/scripted"
	"rookery/ui"
	"rookery/ui/uitest"
)

// openAdapted shows a program that knows the adapters plume and quill, and files
// that do not say all.
func openAdapted(t *testing.T) program {
	t.Helper()
	p := open(t, 80, 24, func(w *uitest.Options, _ *ui.Options) { w.Adapted = true })
	p.Workspace.UseAdapters(func(ctx context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error) {
		if path == "" {
			return scripted.OpenAdapter(ctx, path, name, o)
		}
		switch path = filepath.Base(path); {
		case path == "lora.pth" && o.Alpha == 0:
			return nil, &adapter.QuestionError{Path: path, Asked: "alpha", Problem: "a LoRA file does not say its alpha"}
		case path == "bone.pth" && o.Blocks == "":
			return nil, &adapter.QuestionError{Path: path, Asked: "blocks", Problem: "its shapes fit two forms", Choices: []string{"column", "row"}}
		case path == "lora.pth" || path == "bone.pth":
			return &adapter.Adapter{Name: path, Path: path, Fingerprint: fmt.Sprintf("%s %v %s %v", path, o.Alpha, o.Blocks, o.Strength)}, nil
		}
		return nil, fmt.Errorf("there is no adapter %s", path)
	}, scripted.Adapters)
	return p
}

// used is the adapter of the conversation.
func (p program) used() string { return p.chat.View().Adapter }

func TestAdaptersPanel(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := openAdapted(t)
		p.Press("f10")
		p.Sees("Adapters", "* none", "plume", "quill")
		p.Press("down", "down", "right") // it is not in use: only the slider moves
		p.Sees("1.10")
		if p.used() != "" {
			t.Errorf("uses %q", p.used())
		}
		p.Press("enter")
		p.Sees("adapter quill × 1.1")
		p.Press("right", "0")
		if p.used() != "" {
			t.Errorf("uses %q at strength 0", p.used())
		}
		p.Press("1")
		if p.used() != "quill" {
			t.Errorf("uses %q at full strength", p.used())
		}
		p.Press("home", "enter")
		p.Sees("no adapter, from the next token on")
		p.Press("end", "d")
		p.Sees("quill is out of memory")
		p.Press("x")
		p.Sees("comes with the model and stays in the list")
		for _, size := range [][2]int{{30, 8}, {200, 60}, {12, 5}, {80, 24}} {
			p.Resize(size[0], size[1])
			p.Press("down", "up")
			p.Check()
		}
	})
}

// Of what is asked for while an adapter is loaded the last counts.
func TestTheLastStrengthCounts(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := openAdapted(t)
		p.Press("f10", "down", "enter")
		for _, k := range []string{"right", "right", "right"} {
			p.Send(uitest.Key(t, k))
		}
		p.Pass(time.Second)
		if p.used() != "plume × 1.3" {
			t.Errorf("uses %q", p.used())
		}
	})
}

func TestAdapterQuestions(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := openAdapted(t)
		p.Enter("/adapter lora.pth")
		p.Sees("Alpha of lora.pth")
		p.Enter("many")
		p.Sees(`"many" is no alpha`)
		p.Press("ctrl+u")
		p.Enter("32")
		p.Sees("adapter lora.pth")
		p.Press("f10", "a")
		p.Enter("bone.pth")
		p.Sees("BAT")
		p.Press("down", "enter")
		p.Pass(2 * time.Second)
		list, err := p.Workspace.Adapters().List(t.Context())
		uitest.Must(t, err)
		var files []string
		for _, a := range list {
			if a.Path != "" {
				files = append(files, fmt.Sprint(a.Name, " ", a.Options.Alpha, " ", a.Options.Blocks))
			}
		}
		slices.Sort(files)
		if want := []string{"bone.pth 0 row", "lora.pth 32 "}; !slices.Equal(files, want) {
			t.Errorf("loaded %q, want %q", files, want)
		}
		p.Press("x")
		p.Sees("Forget the adapter?")
		p.Press("enter")
		p.Sees("is forgotten; its file stays")
		p.Press("f10")
		p.Enter("/adapter nobody")
		p.Sees("› /adapter nobody", "✗ there is no adapter nobody")
		p.Press("esc", "ctrl+u")
		p.Enter("/adapter off")
		p.Sees("no adapter, from the next token on")
	})
}
