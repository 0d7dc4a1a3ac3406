package persona

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/persona"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// Feature is a library of personas.
func Feature(l persona.Library) kit.Feature {
	r := room{l}
	return kit.Feature{Actions: map[keys.ID]func(kit.Host, string) tea.Cmd{keys.Personas: r.run}}
}

// A room is the library on the screen.
type room struct{ library persona.Library }

// run carries a command out, or lists the personas.
func (r room) run(h kit.Host, arg string) tea.Cmd {
	if arg == "" {
		return r.pick(h)
	}
	ctx, d := h.Context(), h.Tab().Dialogue()
	if IsChange(arg) {
		return kit.Await(func() (string, error) { return Change(ctx, r.library, d, arg) }, kit.Report)
	}
	w, presets := h.Workspace(), h.Presets()
	return kit.Await(func() (*chat.Dialogue, error) {
		p, values, err := Read(ctx, r.library, arg)
		if err != nil {
			return nil, err
		}
		return w.NewAs(ctx, p, values, presets)
	}, func(h kit.Host, d *chat.Dialogue, err error) tea.Cmd {
		if err != nil {
			return h.Fail(err)
		}
		return tea.Batch(h.BeginTab(d), h.Say("a conversation with “"+kit.OneLine(arg)+"”"))
	})
}

// pick lists the personas and the ways to add one.
func (r room) pick(h kit.Host) tea.Cmd {
	c := kit.NewChooser(h.Theme(), "Personas", "begin", "", nil) // takes what is typed meanwhile
	h.OpenDialog(c)
	ctx := h.Context()
	return kit.Await(func() ([]persona.Persona, error) { return r.library.List(ctx) }, func(h kit.Host, all []persona.Persona, err error) tea.Cmd {
		var entries []kit.Entry
		for _, p := range all {
			entries = append(entries, kit.Entry{
				Title: kit.OneLine(p.Name), Detail: Describe(p), Remove: r.askDelete(p),
				Choose: func(h kit.Host) tea.Cmd {
					h.CloseDialog()
					return r.run(h, p.Name)
				},
			})
		}
		c.Fill(append(entries,
			kit.Entry{Title: "Save this conversation's as a persona…", Detail: "system prompt, state, adapter, mix, sampling", Choose: r.askSave},
			kit.Entry{Title: "Import a file…", Detail: "a persona, or a character card", Choose: r.askImport},
		))
		if err != nil {
			return h.Fail(err)
		}
		return nil
	})
}

func (r room) askSave(h kit.Host) tea.Cmd {
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Save as a persona", "", "save", "", false, func(h kit.Host, name string) tea.Cmd {
		h.CloseDialogs()
		return r.run(h, "save "+name)
	}))
	return nil
}

func (r room) askImport(h kit.Host) tea.Cmd {
	return kit.AskPath(h, "Import a persona", "A persona, or a character card as .json or .png.", "import", "", func(h kit.Host, path string) tea.Cmd {
		h.CloseDialogs()
		return r.run(h, "import "+path)
	})
}

func (r room) askDelete(p persona.Persona) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.OpenDialog(&kit.Confirmation{
			Title: "Delete the persona?", Text: fmt.Sprintf("“%s” is removed for good. Conversations with it stay.", kit.OneLine(p.Name)), Verb: "delete",
			Accept: func(h kit.Host) tea.Cmd {
				h.CloseDialogs()
				return r.run(h, "delete "+p.Name)
			},
		})
		return nil
	}
}

// Describe says in one line what a persona brings.
func Describe(p persona.Persona) string {
	var parts []string
	add := func(what, name string) {
		if name != "" {
			parts = append(parts, strings.TrimSpace(what+" "+kit.OneLine(name)))
		}
	}
	add("", p.About)
	add("state", p.State)
	add("adapter", p.Adapter)
	add("mix", p.Mix)
	add("preset", p.Preset)
	add("think", string(p.Think))
	add("form", string(p.Form.Kind))
	if len(parts) == 0 {
		add("", p.System)
	}
	return strings.Join(parts, " · ")
}

// The words that begin what changes the library.
const (
	save, remove, imports = "save", "delete", "import"
)

// IsChange says that a command changes the library. Who has a persona of such a name
// writes it in another case.
func IsChange(arg string) bool {
	word, _, _ := strings.Cut(arg, " ")
	return word == save || word == remove || word == imports
}

// Change carries out what changes the library. It blocks.
func Change(ctx context.Context, l persona.Library, d *chat.Dialogue, arg string) (said string, err error) {
	word, name, _ := strings.Cut(arg, " ")
	if name = strings.TrimSpace(name); name == "" {
		return "", errors.New("write /persona " + word + " and a name, or for import a file")
	}
	switch word {
	case save:
		path, err := l.Save(ctx, d.Persona(name))
		return "saved to " + kit.OneLine(path), err
	case remove:
		name, err := l.Delete(ctx, name)
		return "deleted “" + kit.OneLine(name) + "”", err
	default:
		p, err := l.Import(ctx, kit.ExpandHome(name))
		return "imported “" + kit.OneLine(p.Name) + "”", err
	}
}

// Read finds the persona of a name, behind which name=value pairs may stand.
func Read(ctx context.Context, l persona.Library, arg string) (p persona.Persona, values map[string]string, err error) {
	words := strings.Fields(arg)
	n := len(words)
	values = map[string]string{}
	for ; n > 1 && strings.Contains(words[n-1], "="); n-- {
		name, value, _ := strings.Cut(words[n-1], "=")
		values[name] = value
	}
	p, err = l.Find(ctx, strings.Join(words[:n], " "))
	return p, values, err
}
