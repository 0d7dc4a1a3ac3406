package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A mixWorkspace is what the interface needs of mixes. It blocks and is called in
// commands only.
type mixWorkspace interface {
	States(ctx context.Context) ([]turn.State, error)
	ParseMix(ctx context.Context, text string) (turn.Mix, error)
	Mixes(ctx context.Context) ([]turn.NamedMix, error)
	FindMix(ctx context.Context, name string) (turn.Mix, error)
	SaveMix(ctx context.Context, name string, m turn.Mix) (turn.NamedMix, error)
	DeleteMix(ctx context.Context, name string) error
}

// A mixDialogue is the part of a dialogue that is about its mix.
type mixDialogue interface {
	SetMix(m turn.Mix) error
	// Drawn is an answer's tokens as they were drawn, or nil.
	Drawn(id turn.ID) []infer.Token
}

func (k chatWorkspace) States(ctx context.Context) ([]turn.State, error) {
	return k.Library().List(ctx)
}

func (opening) SetMix(turn.Mix) error       { return errOpening }
func (opening) Drawn(turn.ID) []infer.Token { return nil }

// mixTable says what the actions on mixes do.
func (m *Model) mixTable() map[keys.ID]func(string) tea.Cmd {
	return map[keys.ID]func(string) tea.Cmd{
		keys.Mix: m.mix, keys.MixPresets: m.savedMixes, keys.SaveMix: m.saveMix, keys.Heat: m.showHeat,
	}
}

// A mixMsg brings a mix to use in a tab's dialogue.
type mixMsg struct {
	tab   *tab
	mix   turn.Mix
	typed string // the command that asked for it
	err   error
}

// mix opens the mixer, or uses the mix that was written.
func (m *Model) mix(arg string) tea.Cmd {
	if arg == "" {
		return m.togglePanel(mixerPanel)
	}
	return m.readMix("/mix "+arg, func() (turn.Mix, error) { return m.workspace.ParseMix(m.ctx, arg) })
}

// readMix reads a mix for the dialogue. What would answer with the mix before
// waits for it.
func (m *Model) readMix(typed string, read func() (turn.Mix, error)) tea.Cmd {
	t := m.tab()
	t.mixing++
	return func() tea.Msg {
		mix, err := read()
		return mixMsg{t, mix, typed, err}
	}
}

var (
	errMixing = errors.New("the mix is still being read: send it again")
	errLeft   = errors.New("no answer was begun: the tab was left while the mix was being read")
)

// usesMix says that an action begins answers.
func usesMix(id keys.ID) bool {
	switch id {
	case keys.Retry, keys.Continue, keys.Best, keys.EditLast, keys.Compare, keys.Reread:
		return true
	}
	return false
}

// onMix uses a mix, and then begins what waited for it.
func (m *Model) onMix(msg mixMsg) tea.Cmd {
	t, err := msg.tab, msg.err
	if err == nil {
		err = t.d.SetMix(msg.mix)
	}
	if c := t.composer; err != nil && c.Empty() {
		c.Fill(msg.typed) // to be put right
		m.edited()
	}
	held := t.readMix(err)
	if held != nil && t != m.tab() {
		held, err = nil, errLeft
	}
	cmd := tea.Batch(m.report(saidMix(msg.mix), err), m.look())
	if held != nil {
		cmd = tea.Batch(cmd, held())
	}
	return cmd
}

// readMix counts a mix that was read, and gives what begins now. Nothing does
// if the mix cannot be used.
func (t *tab) readMix(err error) (held func() tea.Cmd) {
	t.mixing--
	switch {
	case err != nil:
		t.held = nil
	case t.mixing == 0:
		held, t.held = t.held, nil
	}
	return held
}

// saidMix says what a change of the mix does.
func saidMix(mix turn.Mix) string {
	if !mix.Active() {
		return "no mix: the conversation's own run alone"
	}
	return "mix " + kit.OneLine(mix.String())
}

// setMix uses a mix from the next token on.
func (m *Model) setMix(mix turn.Mix) tea.Cmd {
	err := m.tab().d.SetMix(mix)
	return tea.Batch(m.report("", err), m.look())
}

// syncMixer tells the mixer what the conversation uses.
func (m *Model) syncMixer() {
	v := &m.tab().view
	playing := v.Live != nil && !v.Live.Turn.Mix.Same(v.Conversation.Mix)
	m.panel.mixer.Set(v.Conversation.Mix, v.Rereads(), playing)
}

// addedWeight is what a state gets that is added to a mix.
const addedWeight = 0.5

// mixStatesMsg brings the library, for the dialog that adds to the mix.
type mixStatesMsg struct {
	dialog *kit.Chooser
	list   []turn.State
	err    error
}

// addToMix asks which state to add.
func (m *Model) addToMix() tea.Cmd {
	c := kit.NewChooser(m.th, "Add a state to the mix", "add", "There are no other states for this model.", nil)
	m.OpenDialog(c)
	return func() tea.Msg {
		list, err := m.workspace.States(m.ctx)
		return mixStatesMsg{c, list, err}
	}
}

// onMixStates fills the list of states to add.
func (m *Model) onMixStates(msg mixStatesMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	mix := m.tab().view.Conversation.Mix
	list := msg.list
	if m.model != nil {
		list = library.Fitting(list, m.model)
	}
	var entries []kit.Entry
	for _, s := range list {
		if !mix.Has(s.ID) {
			entries = append(entries, kit.Entry{Title: kit.OneLine(s.Name), Detail: kit.AboutState(s), Choose: addState{s}.do})
		}
	}
	msg.dialog.Fill(entries)
	return nil
}

// addState adds a state to the mix of the conversation.
type addState struct{ s turn.State }

func (i addState) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	mix := m.tab().view.Conversation.Mix
	if !mix.Active() {
		mix = turn.Mix{Own: turn.MixMember{Weight: 1}}
	}
	mix.Others = append(slices.Clone(mix.Others), turn.MixMember{State: i.s.ID, Name: i.s.Name, Weight: addedWeight})
	return m.setMix(mix)
}

// mixesMsg brings the saved mixes for their dialog.
type mixesMsg struct {
	dialog *kit.Chooser
	list   []turn.NamedMix
	err    error
}

// savedMixes lists the saved mixes, or uses the one of a name.
func (m *Model) savedMixes(name string) tea.Cmd {
	if name != "" {
		return m.readMix("/mixes "+name, func() (turn.Mix, error) { return m.workspace.FindMix(m.ctx, name) })
	}
	c := kit.NewChooser(m.th, "Saved mixes", "use", "", nil)
	m.OpenDialog(c)
	return m.listMixes(c)
}

func (m *Model) listMixes(c *kit.Chooser) tea.Cmd {
	return func() tea.Msg {
		list, err := m.workspace.Mixes(m.ctx)
		return mixesMsg{c, list, err}
	}
}

// onMixes fills the list of saved mixes.
func (m *Model) onMixes(msg mixesMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	mix := m.tab().view.Conversation.Mix
	var entries []kit.Entry
	for _, saved := range msg.list {
		entries = append(entries, kit.Entry{
			Title: kit.OneLine(saved.Name), Detail: kit.OneLine(saved.Mix.String()), Current: saved.Mix.String() == mix.String(),
			Choose: takeMix{saved.Name}.do, Remove: askDeleteMix{saved.Name}.do,
		})
	}
	if mix.Active() {
		entries = append(entries, kit.Entry{Title: "Save the mix of this conversation…", Detail: kit.OneLine(mix.String()), Choose: askSaveMix{}.do})
	}
	msg.dialog.Fill(entries)
	if len(entries) == 0 {
		msg.dialog.Empty = "None yet. " + m.hintFor(keys.SaveMix) + " saves that of the conversation."
	}
	return nil
}

type (
	// takeMix uses a saved mix, askDeleteMix and deleteMix forget one.
	takeMix      struct{ name string }
	askDeleteMix struct{ name string }
	deleteMix    struct{ name string }
	// askSaveMix asks for a name to save the conversation's mix under, and
	// askSaveOver whether that of a name is replaced, which saveMixAs does.
	askSaveMix  struct{}
	askSaveOver struct{ name string }
	nameMix     struct{ name string }
	saveMixAs   struct{ name string }
)

func (i takeMix) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	return m.savedMixes(i.name)
}

func (i askDeleteMix) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.OpenDialog(&kit.Confirmation{Title: "Delete the mix?", Text: fmt.Sprintf("“%s” is removed from the saved mixes. Conversations that use it keep it.", kit.OneLine(i.name)), Verb: "delete", Accept: deleteMix(i).do})
	return nil
}

func (i deleteMix) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialogs()
	return func() tea.Msg {
		return noticeMsg{"deleted the mix “" + kit.OneLine(i.name) + "”", m.workspace.DeleteMix(m.ctx, i.name)}
	}
}

func (askSaveMix) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.OpenDialog(kit.NewQuestion(m.th, "Save the mix", "States and weights of this conversation's mix, for any conversation.", "save", "", false, func(h kit.Host, name string) tea.Cmd {
		return nameMix{strings.TrimSpace(name)}.do(h)
	}))
	return nil
}

func (i askSaveOver) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	mix := m.tab().view.Conversation.Mix
	m.OpenDialog(&kit.Confirmation{
		Title: "Replace the mix?", Text: fmt.Sprintf("“%s” becomes that of this conversation: %s.", kit.OneLine(i.name), kit.OneLine(mix.String())),
		Verb: "replace", Accept: saveMixAs(i).do,
	})
	return nil
}

func (i nameMix) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	return m.saveMix(i.name)
}

func (i saveMixAs) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialogs()
	mix := m.tab().view.Conversation.Mix
	return func() tea.Msg {
		saved, err := m.workspace.SaveMix(m.ctx, i.name, mix)
		return noticeMsg{"saved the mix “" + kit.OneLine(saved.Name) + "”", err}
	}
}

// nameTakenMsg says whether a saved mix has the name that another is to have.
type nameTakenMsg struct {
	name  string
	taken bool
	err   error
}

// saveMix keeps the conversation's mix under a name, and asks for one if there
// is none; what has the name is replaced after a question.
func (m *Model) saveMix(name string) tea.Cmd {
	if !m.tab().view.Conversation.Mix.Active() {
		return m.fail(errNoMix)
	}
	if name == "" {
		return askSaveMix{}.do(m)
	}
	return func() tea.Msg {
		list, err := m.workspace.Mixes(m.ctx)
		return nameTakenMsg{name, slices.ContainsFunc(list, func(n turn.NamedMix) bool { return n.Name == name }), err}
	}
}

var errNoMix = errors.New("there is no mix to save: add a state to it first")

func (m *Model) onNameTaken(msg nameTakenMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.fail(msg.err)
	case msg.taken:
		return askSaveOver{msg.name}.do(m)
	}
	return saveMixAs{msg.name}.do(m)
}
