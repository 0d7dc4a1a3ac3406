package panel

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer/adapter"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// An adapterResult is what has become of a job.
type adapterResult struct {
	a     turn.Adapter // that was loaded, if any
	said  string
	file  adapterFile // that was loaded, if any
	typed bool        // in a command
}

// An adapterFile is an adapter by its name or file, with what the person said of it.
type adapterFile struct {
	name string
	o    adapter.Options
}

// open shows the panel, or uses the adapter of a name or a file, or none.
func (p *Adapters) open(h kit.Host, arg string) tea.Cmd {
	switch arg {
	case "":
		return h.TogglePanel(keys.Adapters)
	case "off", "none":
		p.chosen = ""
		return p.useAdapter(turn.Adapter{}, 0)(h)
	}
	return p.load(h, h.Tab().Dialogue(), adapterFile{name: kit.ExpandHome(arg)}, true)
}

// AboutAdapter says what a change of the adapter does.
func AboutAdapter(a turn.Adapter) string {
	if a.Name == "" {
		return "no adapter, from the next token on"
	}
	said := kit.OneLine(a.Title()) + ", from the next token on"
	if a.State != "" {
		said += "; its state is in the library as " + kit.OneLine(a.State)
	}
	return said
}

// listEvery is how often the list is read while it is shown.
const listEvery = time.Second

// Look takes over what the conversation uses, and reads the list again when it
// is old.
func (p *Adapters) Look(h kit.Host) tea.Cmd {
	v := h.Tab().View()
	p.dialogue = h.Tab().Dialogue()
	p.SetUse(v.Conversation.ID, v.Conversation.Adapter, v.Adapter)
	if p.listing || h.Now().Sub(p.listed) < listEvery {
		return nil
	}
	p.listing, p.listed = true, h.Now()
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() ([]turn.RegisteredAdapter, error) { return w.Adapters().List(ctx) }, func(h kit.Host, list []turn.RegisteredAdapter, err error) tea.Cmd {
		p.listing = false
		p.Set(list, err, h.Workspace().Engine().Stats().Memory.Weights)
		return nil
	})
}

// load uses an adapter of a file for a conversation.
func (p *Adapters) load(h kit.Host, d *chat.Dialogue, f adapterFile, typed bool) tea.Cmd {
	if d == nil {
		return h.Fail(errOpening)
	}
	return p.do(h, adapterJob{wish: d, doing: "loading " + f.name, work: func(ctx context.Context, r *library.AdapterRegistry) (adapterResult, error) {
		a, err := r.Find(ctx, f.name, f.o)
		return adapterResult{a: a, said: AboutAdapter(a), file: f, typed: typed}, err
	}})
}

// useAdapter uses an adapter at a strength. None needs no loading: it is used at once,
// whatever is being loaded.
func (p *Adapters) useAdapter(a turn.Adapter, strength float32) kit.Action {
	return func(h kit.Host) tea.Cmd {
		d := h.Tab().Dialogue()
		if d == nil {
			return h.Fail(errOpening)
		}
		if a.Name == "" {
			p.jobs.overtake(d)
			return tea.Batch(kit.Report(h, AboutAdapter(a), p.setAdapter(d, a)), h.Refresh())
		}
		doing := fmt.Sprintf("loading %s at %.2f", a.Name, strength)
		return p.do(h, adapterJob{wish: d, doing: doing, work: func(ctx context.Context, r *library.AdapterRegistry) (adapterResult, error) {
			strong, err := r.Strengthen(ctx, a, strength)
			if err != nil {
				strong = a
			}
			return adapterResult{a: strong, said: AboutAdapter(strong)}, err
		}})
	}
}

// ask asks what a file does not say.
func (p *Adapters) ask(h kit.Host, d *chat.Dialogue, r adapterResult, q *adapter.QuestionError) {
	if len(q.Choices) > 0 && q.Choices[0] != "" {
		var entries []kit.Entry
		for _, c := range q.Choices {
			entries = append(entries, kit.Entry{Title: c, Detail: aboutBlocks[c], Choose: p.answer(d, r, q.Asked, c)})
		}
		h.OpenDialog(kit.NewChooser(h.Theme(), kit.OneLine(q.Problem), "choose", "", entries))
		return
	}
	about := kit.OneLine(kit.Capitalize(q.Problem)) + ". The trainer's settings have it; the scale of the change is alpha / rank."
	h.OpenDialog(kit.NewQuestion(h.Theme(), kit.Capitalize(q.Asked)+" of "+kit.OneLine(q.Path), about, "load it", "", false, func(h kit.Host, text string) tea.Cmd {
		return p.answer(d, r, q.Asked, strings.TrimSpace(text))(h)
	}))
}

// aboutBlocks says what the choices for a Bone file are.
var aboutBlocks = map[string]string{
	adapter.BlocksColumn: "a block for each piece of the inputs: BAT",
	adapter.BlocksRow:    "a block for each piece of the outputs: Bone before 2024-10",
}

// answer loads a file with what it does not say itself.
func (p *Adapters) answer(d *chat.Dialogue, r adapterResult, asked, answer string) kit.Action {
	return func(h kit.Host) tea.Cmd {
		f := r.file
		switch asked {
		case "blocks":
			f.o.Blocks = answer
		case "alpha":
			alpha, err := strconv.ParseFloat(answer, 32)
			if err != nil || !(alpha > 0) {
				kit.Refuse(h, fmt.Errorf("%q is no alpha: a number above 0 is needed", answer))
				return nil
			}
			f.o.Alpha = float32(alpha)
		default:
			f.o.Init = kit.ExpandHome(answer)
		}
		h.CloseDialog()
		return p.load(h, d, f, r.typed)
	}
}

// askFile asks for the file of another adapter.
func (p *Adapters) askFile(h kit.Host) tea.Cmd {
	about := "A .pth or .safetensors file of a LoRA, PiSSA, DoRA, DiSHA, BAT, Bone, MoLE or replaced tensors."
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Load an adapter", about, "load it", "", false, func(h kit.Host, path string) tea.Cmd {
		h.CloseDialog()
		if path = strings.TrimSpace(path); path == "" {
			return nil
		}
		return p.load(h, h.Tab().Dialogue(), adapterFile{name: kit.ExpandHome(path)}, false)
	}))
	return nil
}

// drop gives the memory of an adapter back, at all strengths.
func (p *Adapters) drop(family []turn.RegisteredAdapter) kit.Action {
	return func(h kit.Host) tea.Cmd {
		return p.do(h, adapterJob{doing: "dropping " + family[0].Name, work: func(ctx context.Context, r *library.AdapterRegistry) (adapterResult, error) {
			var err error
			for _, a := range family {
				if a.Loaded != nil {
					err = errors.Join(err, r.Drop(ctx, a.Fingerprint))
				}
			}
			return adapterResult{said: kit.OneLine(family[0].Name) + " is out of memory; it is loaded again when it is used"}, err
		}})
	}
}

// merge gives an adapter weights of its own, or takes them away.
func (p *Adapters) merge(a turn.Adapter, merged bool) kit.Action {
	said := kit.OneLine(a.Name) + " is merged: it has weights of its own"
	if !merged {
		said = kit.OneLine(a.Name) + " is beside the weights again"
	}
	return func(h kit.Host) tea.Cmd {
		return p.do(h, adapterJob{doing: "merging " + a.Name, work: func(ctx context.Context, r *library.AdapterRegistry) (adapterResult, error) {
			_, err := r.Merge(ctx, a, merged)
			return adapterResult{said: said}, err
		}})
	}
}

// askForget asks whether an adapter goes out of the list.
func (p *Adapters) askForget(a turn.Adapter) kit.Action {
	return func(h kit.Host) tea.Cmd {
		if a.Path == "" {
			return h.Fail(fmt.Errorf("%s comes with the model and stays in the list", a.Name))
		}
		h.OpenDialog(&kit.Confirmation{
			Title: "Forget the adapter?", Text: fmt.Sprintf("“%s” goes out of the list; its file stays. Conversations that use it ask for it again.", kit.OneLine(a.Name)), Verb: "forget",
			Accept: func(h kit.Host) tea.Cmd {
				h.CloseDialogs()
				return p.do(h, adapterJob{doing: "forgetting " + a.Name, work: func(ctx context.Context, r *library.AdapterRegistry) (adapterResult, error) {
					return adapterResult{said: kit.OneLine(a.Name) + " is forgotten; its file stays"}, r.Forget(ctx, a)
				}})
			},
		})
		return nil
	}
}
