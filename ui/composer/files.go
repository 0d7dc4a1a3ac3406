package composer

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/attach"
	"rookery/chat/library"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// files is what is known of the files that the prompt names.
type files struct {
	attended int // change of the text that this is for

	completing bool   // a path is being written
	folder     string // that listed is for
	listed     []attach.Candidate

	named    []string // paths that cost is for
	counting bool
	stale    bool  // other paths were named meanwhile
	cost     *cost // nil: the prompt names no file
	hint     string
}

// A cost is how many tokens the files of a prompt have.
type cost struct {
	sources []sourceCost
	tokens  int
	missing []string
	baked   string // name of the state that has read them; "" for none
	err     error
}

type sourceCost struct {
	name, about string
}

// Attend looks after the files that the prompt names. It is called after each message.
func (c *Composer) Attend(h kit.Host) tea.Cmd {
	if c.files.attended == c.Changes() {
		return nil
	}
	c.files.attended = c.Changes()
	return tea.Batch(c.listFolder(h), c.countFiles(h))
}

// listFolder lists the folder that the path before the cursor is in.
func (c *Composer) listFolder(h kit.Host) tea.Cmd {
	f := &c.files
	path, _, ok := attach.Unfinished(c.Before())
	folder := attach.Folder(path)
	if f.completing = ok; !ok || f.listed != nil && folder == f.folder {
		if !ok {
			f.listed = nil // listed anew for the next one
		}
		return nil
	}
	f.folder, f.listed = folder, []attach.Candidate{}
	ctx := h.Context()
	return kit.Await(func() ([]attach.Candidate, error) { return attach.List(ctx, folder) }, func(_ kit.Host, all []attach.Candidate, err error) tea.Cmd {
		if err == nil && f.folder == folder && f.listed != nil { // an error leaves nothing to choose from
			f.listed = append(f.listed, all...)
			c.menu.changes = -1
		}
		return nil
	})
}

// countFiles reads the files that the prompt names and counts their tokens, beside
// everything else and one time after the other.
func (c *Composer) countFiles(h kit.Host) tea.Cmd {
	f, value, m := &c.files, c.Value(), h.Model()
	named := attach.Named(value)
	switch {
	case len(named) == 0 || m == nil:
		f.named, f.cost, f.stale = nil, nil, false
		return nil
	case slices.Equal(named, f.named):
		return nil
	case f.counting:
		f.stale = true
		return nil
	}
	f.named, f.counting, f.stale = named, true, false
	f.hint = h.Keymap().Hint(keys.Composer, keys.FromFiles)
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() (*cost, error) { return countTokens(ctx, value, m, w.Library()), nil }, func(h kit.Host, n *cost, _ error) tea.Cmd {
		f.counting = false
		if f.named != nil {
			f.cost = n
		}
		if f.stale {
			return c.countFiles(h)
		}
		return nil
	})
}

// countTokens is the cost of the files that a text names; nil if it names none.
func countTokens(ctx context.Context, text string, m *infer.Model, l *library.Library) *cost {
	p, err := attach.Read(ctx, text)
	if err != nil {
		return &cost{err: err}
	}
	if len(p.Sources)+len(p.Missing) == 0 {
		return nil
	}
	n := &cost{missing: p.Missing}
	for _, s := range p.Sources {
		tokens := len(m.Tokenizer.Encode(nil, s.Document()))
		about := kit.FormatCount(tokens) + " tokens"
		if s.Folder {
			about = fmt.Sprintf("%d files · %s", len(s.Files), about)
		}
		if s.Skipped > 0 {
			about += fmt.Sprintf(" · %d left out", s.Skipped)
		}
		n.sources = append(n.sources, sourceCost{s.Name, about})
		n.tokens += tokens
	}
	if len(p.Sources) > 0 {
		if s, found, err := l.FindBaked(ctx, m, p.Hash()); err == nil && found {
			n.baked = s.Name
		}
	}
	return n
}

// mostSources is how many files and folders are listed with their cost.
const mostSources = 6

// drawCost says what the files cost that the prompt names.
func (c *Composer) drawCost(width int) []string {
	n, th := c.files.cost, c.th
	if n == nil {
		return nil
	}
	var lines []string
	add := func(line string) { lines = append(lines, kit.Pad(kit.Fit(" "+line, width), width)) }
	if n.err != nil {
		for _, line := range kit.Wrap(kit.OneLine(n.err.Error()), max(1, width-1)) {
			add(th.Error.Render(line))
		}
		return lines
	}
	for i, s := range n.sources {
		if i == mostSources {
			add(th.Muted.Render(fmt.Sprintf("and %d more", len(n.sources)-i)))
			break
		}
		add(th.Key.Render(kit.FitEnd(kit.OneLine(s.name), max(1, width/2))) + "  " + th.Muted.Render(s.about))
	}
	for _, name := range n.missing[:min(len(n.missing), 2)] {
		add(th.Key.Render("@"+kit.FitEnd(kit.OneLine(name), max(1, width/2))) + "  " + th.Muted.Render("there is no such file: it is sent as it stands"))
	}
	switch {
	case len(n.sources) == 0 || c.files.hint == "":
	case n.baked != "":
		add(th.Muted.Render(c.files.hint + " begins from “" + kit.OneLine(n.baked) + "”, which has read it: 0 tokens"))
	default:
		add(th.Muted.Render(fmt.Sprintf("%s reads the %s tokens once, into a state to begin from", c.files.hint, kit.FormatCount(n.tokens))))
	}
	return lines
}

// ReadFiles makes the work of reading the files that the prompt names, as they are now;
// nil if it names none. What it gives is the whole prompt.
func (c *Composer) ReadFiles(ctx context.Context) func() (attach.Prompt, error) {
	value, held := c.Value(), slices.Clone(c.held)
	if len(attach.Named(value)) == 0 {
		return nil
	}
	return func() (attach.Prompt, error) {
		p, err := attach.Read(ctx, value)
		for _, paste := range held {
			p.Text = paste.putInto(p.Text)
		}
		return p, err
	}
}

// fileChoices are the files and folders that the path before the cursor may become.
func (c *Composer) fileChoices() []choice {
	path, _, ok := attach.Unfinished(c.Before())
	if !ok || c.files.listed == nil || attach.Folder(path) != c.files.folder {
		return nil
	}
	var all []choice
	for _, found := range attach.Matching(c.files.listed, path) {
		about := "folder"
		if !found.Folder {
			about = kit.FormatSize(found.Size)
		}
		all = append(all, choice{usage: kit.OneLine(found.Path), help: about, take: func(c *Composer, id keys.ID) bool { return c.takeFile(found, id) }})
	}
	if len(all) == 1 && all[0].usage == path { // there is nothing to choose
		return nil
	}
	return all
}

// takeFile puts a path in the place of the one that is being written. Enter sends a
// path that is written in full.
func (c *Composer) takeFile(found attach.Candidate, id keys.ID) bool {
	path, length, ok := attach.Unfinished(c.Before())
	if !ok {
		return false
	}
	if id == keys.Send && c.menu.selected == 0 && (path == found.Path || path == attach.Folder(path)) {
		return false
	}
	mark := attach.Mark(found.Path, found.Folder)
	if !found.Folder {
		mark += " "
	}
	c.DeleteBefore(length)
	c.Insert(mark)
	return true
}
