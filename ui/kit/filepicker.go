package kit

import (
	"os"
	"path/filepath"
	"strings"

	"charm.land/bubbles/v2/filepicker"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A FilePicker asks for the path of a file: it is typed, or found in the list of
// its directory, which stands below it.
type FilePicker struct {
	*Question
	files  filepicker.Model
	dir    string // that files lists, as it is typed: up to the last slash
	marked bool   // an entry of the list is meant
	begun  int    // change of the input that the list is for
	reads  int    // of directories
}

// The keys of the list. The person's own keys have become these: see Press.
var (
	listTop  = tea.KeyPressMsg{Code: tea.KeyHome}
	listKeys = map[keys.ID]tea.KeyPressMsg{
		keys.ListUp: {Code: tea.KeyUp}, keys.ListDown: {Code: tea.KeyDown},
		keys.ListPageUp: {Code: tea.KeyPgUp}, keys.ListPageDown: {Code: tea.KeyPgDown},
	}
)

// mostFiles is how many entries of a directory are seen at once.
const mostFiles = 10

// AskPath asks for the path of a file; path is what stands there at first. The
// question stays open until accept closes it: see Refuse. A directory is never
// accepted, but opened.
func AskPath(h Host, title, about, verb, path string, accept func(h Host, path string) tea.Cmd) tea.Cmd {
	f := &FilePicker{Question: NewQuestion(h.Theme(), title, about, verb, path, false, accept)}
	f.begun = f.input.Changes()
	h.OpenDialog(f)
	return f.list()(h)
}

// list reads the directory of the path.
func (f *FilePicker) list() Action {
	f.dir = f.input.Value()[:strings.LastIndexByte(f.input.Value(), '/')+1]
	f.marked = false
	f.files = filepicker.New()
	f.files.CurrentDirectory = "."
	if f.dir != "" {
		f.files.CurrentDirectory = ExpandHome(f.dir)
	}
	f.files.KeyMap = filepicker.KeyMap{
		GoToTop: key.NewBinding(key.WithKeys("home")), Up: key.NewBinding(key.WithKeys("up")), Down: key.NewBinding(key.WithKeys("down")),
		PageUp: key.NewBinding(key.WithKeys("pgup")), PageDown: key.NewBinding(key.WithKeys("pgdown")),
	}
	f.files.ShowPermissions, f.files.ShowSize, f.files.AutoHeight = false, false, false
	f.files.SetHeight(max(1, f.rows()))
	f.files.Cursor = ">"
	// No name ends in a slash: what is drawn as disabled is a file, and the rest
	// are directories.
	f.files.AllowedTypes = []string{"/"}
	file := lipgloss.NewStyle().Transform(OneLine) // names may hold anything
	dir := lipgloss.NewStyle().Transform(func(name string) string { return OneLine(name) + "/" })
	f.files.Styles = filepicker.Styles{DisabledFile: file, DisabledSelected: file, Symlink: file, Directory: dir, Selected: dir}
	f.reads++
	read, n := f.files.Init(), f.reads
	return func(Host) tea.Cmd {
		return Await(func() (tea.Msg, error) { return read(), nil }, func(_ Host, msg tea.Msg, _ error) tea.Cmd {
			if n == f.reads {
				f.files, _ = f.files.Update(msg)
				f.find()
			}
			return nil
		})
	}
}

// find marks the first entry that begins with what is typed of a name.
func (f *FilePicker) find() {
	f.files, _ = f.files.Update(listTop)
	f.marked = false
	name := strings.TrimPrefix(f.input.Value(), f.dir)
	for name != "" && f.name() != "" {
		if f.marked = strings.HasPrefix(f.name(), name); f.marked {
			return
		}
		before := f.files.HighlightedPath()
		f.files, _ = f.files.Update(listKeys[keys.ListDown])
		if f.files.HighlightedPath() == before {
			f.files, _ = f.files.Update(listTop)
			return
		}
	}
}

// name is that of the marked entry, or "".
func (f *FilePicker) name() string {
	if path := f.files.HighlightedPath(); path != "" {
		return filepath.Base(path)
	}
	return ""
}

// Press takes a key.
func (f *FilePicker) Press(id keys.ID, text string) Action {
	switch id {
	case keys.ListUp, keys.ListDown, keys.ListPageUp, keys.ListPageDown:
		f.move(id)
		return nil
	case keys.ListView:
		if !f.marked {
			return nil
		}
		f.take()
		return f.openOr(nil)
	case keys.ListAccept:
		return f.openOr(f.Question.Press(id, text))
	}
	a := f.Question.Press(id, text)
	if a != nil || f.begun == f.input.Changes() {
		return a
	}
	f.begun = f.input.Changes()
	if !strings.HasPrefix(f.input.Value(), f.dir) || strings.Contains(f.input.Value()[len(f.dir):], "/") {
		return f.list()
	}
	f.find()
	return nil
}

// move marks another entry and writes its path.
func (f *FilePicker) move(id keys.ID) {
	if f.marked {
		f.files, _ = f.files.Update(listKeys[id])
	}
	f.marked = f.name() != ""
	f.take()
}

// take writes the path of the marked entry.
func (f *FilePicker) take() {
	if f.marked {
		f.wrong = ""
		f.input.Set(f.dir + f.name())
		f.begun = f.input.Changes()
	}
}

// openOr lists what the path says if that is a directory; a path of anything
// else is for otherwise, which may be nil.
func (f *FilePicker) openOr(otherwise Action) Action {
	path := strings.TrimSpace(f.input.Value())
	return func(Host) tea.Cmd {
		return Await(func() (os.FileInfo, error) { return os.Stat(ExpandHome(path)) }, func(h Host, info os.FileInfo, err error) tea.Cmd {
			if err == nil && info.IsDir() {
				f.input.Set(strings.TrimRight(path, "/") + "/")
				f.begun = f.input.Changes()
				return f.list()(h)
			}
			if otherwise == nil {
				return nil
			}
			return otherwise(h)
		})
	}
}

// Wheel goes through the list.
func (f *FilePicker) Wheel(by, _, _ int) Action {
	for range max(by, -by) {
		if by < 0 {
			f.move(keys.ListUp)
		} else {
			f.move(keys.ListDown)
		}
	}
	return nil
}

// Click marks the entry under the pointer.
func (f *FilePicker) Click(_, y int) Action {
	lines, at := f.lines()
	head, _, _ := f.content(theme.Theme{}, InnerWidth(questionWidth, f.Width), f.Height-len(lines)-1)
	to := y - 1 - len(head) - 1
	if to < 0 || to >= len(lines) || f.name() == "" {
		return nil
	}
	f.marked = true
	for ; at < to; at++ {
		f.move(keys.ListDown)
	}
	for ; at > to; at-- {
		f.move(keys.ListUp)
	}
	f.take()
	return nil
}

// Resize tells the size of the screen.
func (f *FilePicker) Resize(width, height int) {
	f.Question.Resize(width, height)
	f.files.SetHeight(max(1, f.rows()))
}

// rows is how many entries there is room for.
func (f *FilePicker) rows() int { return max(0, min(mostFiles, f.Height-10)) }

// lines are the entries in view, and which of them the list stands at.
func (f *FilePicker) lines() (lines []string, at int) {
	rows := f.rows()
	if rows == 0 || f.name() == "" {
		return nil, 0
	}
	for line := range strings.Lines(f.files.View()) {
		if line = Clean(strings.TrimRight(line, "\n")); line != "" {
			if strings.HasPrefix(line, f.files.Cursor) {
				at = len(lines)
			}
			lines = append(lines, "  "+strings.TrimSpace(line[1:]))
		}
	}
	if over := max(0, at-rows+1); over > 0 { // a page down shows a line too many
		lines, at = lines[over:], at-over
	}
	return lines[:min(len(lines), rows)], at
}

// Draw returns the box.
func (f *FilePicker) Draw(th theme.Theme, m keys.Map) Box {
	inner := InnerWidth(questionWidth, f.Width)
	lines, at := f.lines()
	content, x, y := f.content(th, inner, f.Height-len(lines)-1)
	if len(lines) > 0 {
		content = append(content, "")
	}
	for i, line := range lines {
		line = Pad(line, inner)
		switch {
		case f.marked && i == at:
			line = PointAt(th, line, inner)
		case strings.HasSuffix(strings.TrimRight(line, " "), "/"):
			line = th.Accent.Render(line)
		default:
			line = th.Muted.Render(line)
		}
		content = append(content, line)
	}
	hints := append(f.hints(m), m.Hint(keys.List, keys.ListView), "complete")
	return Frame(th, f.title, content, HintLine(th, inner-2, hints...), inner, f.Width, f.Height).WithCursor(x, y)
}
