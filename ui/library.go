package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
	"rookery/ui/keys"
)

// stateLibrary is what the interface needs of the states that conversations
// begin from. Everything that takes a context blocks and is called in commands
// only.
type stateLibrary interface {
	NewFrom(s turn.State) (dialogue, error)
	States(ctx context.Context) ([]turn.State, error)
	State(ctx context.Context, id turn.ID) (turn.State, error)
	Bake(ctx context.Context, r library.Recipe, progress func(infer.Progress)) (turn.State, error)
	ImportState(ctx context.Context, path string) (turn.State, error)
	RenameState(ctx context.Context, id turn.ID, name string) error
	DeleteState(ctx context.Context, s turn.State) error
}

func (k chatWorkspace) NewFrom(s turn.State) (dialogue, error) {
	d, err := k.Workspace.NewFrom(s)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (k chatWorkspace) States(ctx context.Context) ([]turn.State, error) {
	return k.Library().List(ctx)
}

func (k chatWorkspace) State(ctx context.Context, id turn.ID) (turn.State, error) {
	return k.Library().Get(ctx, id)
}

func (k chatWorkspace) Bake(ctx context.Context, r library.Recipe, progress func(infer.Progress)) (turn.State, error) {
	return k.Library().Bake(ctx, k.Engine(), r, progress)
}

func (k chatWorkspace) ImportState(ctx context.Context, path string) (turn.State, error) {
	return k.Library().Import(ctx, path, "", statefile.Options{}, k.Engine().Model())
}

func (k chatWorkspace) RenameState(ctx context.Context, id turn.ID, name string) error {
	return k.Library().Rename(ctx, id, name)
}

// A stateIntent is an intent about the library of states.
type stateIntent interface {
	intent
	aboutStates()
}

type (
	// beginFrom opens a conversation that begins from a state.
	beginFrom struct{ s turn.State }
	// askBakeFile, askBakeSystem, askImport and askKeep ask for what is needed
	// to add a state; askStateName asks for the name of a baked system prompt.
	askBakeFile   struct{}
	askBakeSystem struct{}
	askImport     struct{}
	askKeep       struct{}
	askStateName  struct{ text string }
	// bakeFile, bakeSystem, importState and keepState add one.
	bakeFile    struct{ path string }
	bakeSystem  struct{ name, text string }
	importState struct{ path string }
	keepState   struct{ name string }
	// askDeleteState and askRenameState put the question about one.
	askDeleteState struct{ s turn.State }
	askRenameState struct{ s turn.State }
	deleteState    struct{ s turn.State }
	renameState    struct {
		id   turn.ID
		name string
	}
	// stopBaking ends what is being baked.
	stopBaking struct{ b *baking }
	// inspectState shows one; askCompare asks for another one beside it.
	inspectState struct{ s turn.State }
	askCompare   struct{}
	compareWith  struct{ s turn.State }
)

func (beginFrom) intent()           {}
func (beginFrom) aboutStates()      {}
func (askBakeFile) intent()         {}
func (askBakeFile) aboutStates()    {}
func (askBakeSystem) intent()       {}
func (askBakeSystem) aboutStates()  {}
func (askImport) intent()           {}
func (askImport) aboutStates()      {}
func (askKeep) intent()             {}
func (askKeep) aboutStates()        {}
func (askStateName) intent()        {}
func (askStateName) aboutStates()   {}
func (bakeFile) intent()            {}
func (bakeFile) aboutStates()       {}
func (bakeSystem) intent()          {}
func (bakeSystem) aboutStates()     {}
func (importState) intent()         {}
func (importState) aboutStates()    {}
func (keepState) intent()           {}
func (keepState) aboutStates()      {}
func (askDeleteState) intent()      {}
func (askDeleteState) aboutStates() {}
func (askRenameState) intent()      {}
func (askRenameState) aboutStates() {}
func (deleteState) intent()         {}
func (deleteState) aboutStates()    {}
func (renameState) intent()         {}
func (renameState) aboutStates()    {}
func (stopBaking) intent()          {}
func (stopBaking) aboutStates()     {}
func (inspectState) intent()        {}
func (inspectState) aboutStates()   {}
func (askCompare) intent()          {}
func (askCompare) aboutStates()     {}
func (compareWith) intent()         {}
func (compareWith) aboutStates()    {}

// statesMsg brings the library, for the dialog, or without one to begin from
// the state of a name.
type statesMsg struct {
	list   []turn.State
	dialog *chooser
	name   string
	err    error
}

// libraryMsg says that the library has changed, or why not.
type libraryMsg struct {
	said string
	err  error
}

// pickState lists the states, or begins from the one of a name.
func (m *Model) pickState(name string) tea.Cmd {
	var c *chooser
	if name == "" {
		c = newChooser(m.th, "States to begin from", "choose", "", nil) // takes what is typed meanwhile
		m.open(c)
	}
	return func() tea.Msg {
		list, err := m.workspace.States(m.ctx)
		return statesMsg{list, c, name, err}
	}
}

// onStates fills the list, or begins from the state that was named.
func (m *Model) onStates(msg statesMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	if msg.name != "" {
		for _, s := range msg.list {
			if strings.EqualFold(s.Name, msg.name) {
				return m.beginFrom(s)
			}
		}
		return m.fail(fmt.Errorf("there is no state %q; %s lists them", msg.name, m.hintFor(keys.States)))
	}
	var entries []entry
	base := m.tab().view.Conversation.Base
	for _, s := range msg.list {
		e := entry{title: oneLine(s.Name), detail: aboutState(s), choose: beginFrom{s}, inspect: inspectState{s}, current: base == s.ID && base != 0}
		if !s.BuiltIn() {
			e.remove, e.rename = askDeleteState{s}, askRenameState{s}
		}
		entries = append(entries, e)
	}
	entries = append(entries,
		entry{title: "Bake a text file…", detail: "read it once, begin from it ever after", choose: askBakeFile{}},
		entry{title: "Bake a system prompt…", detail: "read it once, begin from it ever after", choose: askBakeSystem{}},
		entry{title: "Keep the state after this answer…", detail: "begin from here elsewhere", choose: askKeep{}},
		entry{title: "Import a file…", detail: "a tuned state, or one of another library", choose: askImport{}},
	)
	msg.dialog.fill(entries)
	return nil
}

// aboutState is what the list says of a state.
func aboutState(s turn.State) string {
	what := string(s.Kind)
	if s.Read > 0 {
		what += " · " + count(s.Read) + " tokens"
	}
	model := s.ModelName
	if model == "" {
		model = fmt.Sprintf("%d layers of %d", s.Shape.Layers, s.Shape.Embed)
	}
	if s.AdapterName != "" {
		model += " with " + s.AdapterName
	}
	return what + " · " + oneLine(model) + " · " + size(s.Bytes)
}

// carryOutState does what is wanted of the library.
func (m *Model) carryOutState(i stateIntent) tea.Cmd {
	switch i := i.(type) {
	case beginFrom:
		m.shut()
		return m.beginFrom(i.s)
	case askBakeFile:
		m.open(newQuestion(m.th, "Bake a text file", "Its text is read from the beginning. Conversations that begin from the state have read all of it.", "read it", "", false, func(path string) intent {
			return bakeFile{strings.TrimSpace(path)}
		}))
	case askBakeSystem:
		m.open(newQuestion(m.th, "Bake a system prompt", "", "go on", m.tab().view.Conversation.System, true, func(text string) intent {
			return askStateName{text}
		}))
	case askStateName:
		m.shut()
		m.open(newQuestion(m.th, "Name of the state", "", "read it", "", false, func(name string) intent { return bakeSystem{name, i.text} }))
	case askImport:
		m.open(newQuestion(m.th, "Import a state", "A .pth or .safetensors file with time_state, or an .rkstate file.", "import", "", false, func(path string) intent {
			return importState{strings.TrimSpace(path)}
		}))
	case askKeep:
		m.open(newQuestion(m.th, "Keep the state after this answer", "", "keep", titleOf(m.tab().view.Conversation), false, func(name string) intent { return keepState{name} }))
	case askDeleteState:
		m.open(&confirmation{title: "Delete the state?", text: fmt.Sprintf("“%s” is removed for good.", oneLine(i.s.Name)), verb: "delete", accept: deleteState(i)})
	case askRenameState:
		m.open(newQuestion(m.th, "Rename the state", "", "rename", i.s.Name, false, func(name string) intent { return renameState{i.s.ID, name} }))
	default:
		return m.changeLibrary(i)
	}
	return nil
}

// changeLibrary does what changes or shows states.
func (m *Model) changeLibrary(i stateIntent) tea.Cmd {
	switch i := i.(type) {
	case bakeFile:
		return m.bakeFile(i.path)
	case bakeSystem:
		return m.bake(func() (library.Recipe, error) {
			return library.Recipe{Name: i.name, Source: "a system prompt", Text: i.text, System: true}, nil
		})
	case stopBaking:
		i.b.cancel()
	case importState:
		m.dialogs = nil
		return func() tea.Msg {
			s, err := m.workspace.ImportState(m.ctx, expandHome(i.path))
			return libraryMsg{"imported “" + oneLine(s.Name) + "”", err}
		}
	case keepState:
		m.dialogs = nil
		return m.keepState(i.name)
	case deleteState:
		m.dialogs = nil
		return func() tea.Msg {
			return libraryMsg{"deleted “" + oneLine(i.s.Name) + "”", m.workspace.DeleteState(m.ctx, i.s)}
		}
	case renameState:
		m.dialogs = nil
		return func() tea.Msg {
			return libraryMsg{"renamed to “" + oneLine(i.name) + "”", m.workspace.RenameState(m.ctx, i.id, i.name)}
		}
	case inspectState:
		return m.inspect(i.s)
	case askCompare:
		return m.askCompare()
	case compareWith:
		m.shut()
		return m.compare(i.s)
	}
	return nil
}

// beginFrom opens a conversation that begins from a state: in this tab if
// nothing has happened there, else in a new one.
func (m *Model) beginFrom(s turn.State) tea.Cmd {
	t := m.tab()
	if _, standIn := t.d.(opening); standIn {
		return m.fail(errOpening)
	}
	d, err := m.workspace.NewFrom(s)
	if err != nil {
		return m.fail(err)
	}
	if t.empty() && !t.generating() && t.view.Conversation.ID != 0 && !t.view.Loading {
		typed := t.composer
		m.workspace.CloseDialogue(t.d)
		m.tabs[m.active] = m.openTab(d)
		m.tab().composer = typed
		m.setFocus(keys.Composer)
		m.goTo(m.active)
	} else {
		m.insertTab(m.active+1, d)
	}
	return tea.Batch(m.say("begins from “"+oneLine(s.Name)+"”"), m.look(), m.tick())
}

// keepState keeps the state after the selected or last answer under a name.
func (m *Model) keepState(name string) tea.Cmd {
	t := m.tab()
	id, ok := lastAnswer(t.view.Turns)
	if b := t.transcript.target(); b != nil && b.turn.Role == turn.RoleAssistant && b.turn.ID != 0 {
		id, ok = b.turn.ID, true
	}
	if !ok {
		return m.fail(errNoAnswer)
	}
	d := t.d
	return func() tea.Msg {
		s, err := d.SaveState(m.ctx, id, name)
		return libraryMsg{"kept as “" + oneLine(s.Name) + "”", err}
	}
}

var errNoAnswer = errors.New("there is no answer yet whose state could be kept")

func lastAnswer(turns []turn.Turn) (turn.ID, bool) {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == turn.RoleAssistant {
			return turns[i].ID, true
		}
	}
	return 0, false
}

// keep asks for a name to keep a state under, or takes it.
func (m *Model) keep(name string) tea.Cmd {
	if name != "" {
		return m.keepState(name)
	}
	return m.carryOutState(askKeep{})
}

// onLibrary tells what has become of a change.
func (m *Model) onLibrary(msg libraryMsg) tea.Cmd { return m.report(msg.said, msg.err) }

// maxText bounds a text file that is baked.
const maxText = 256 << 20

// readTextFile reads a text to bake.
func readTextFile(path string) (library.Recipe, error) {
	f, err := os.Open(expandHome(path))
	if err != nil {
		return library.Recipe{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return library.Recipe{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(data) > maxText {
		return library.Recipe{}, fmt.Errorf("%s is longer than %s", path, size(maxText))
	}
	base := filepath.Base(path)
	return library.Recipe{Name: strings.TrimSuffix(base, filepath.Ext(base)), Source: base, Text: string(data)}, nil
}

// expandHome replaces a tilde at the beginning of a path.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}
