package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer/adapter"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
)

// An adapterWorkspace is what the interface needs of adapters. It blocks and is
// called in commands only.
type adapterWorkspace interface {
	Adapters(ctx context.Context) ([]turn.RegisteredAdapter, error)
	TakeAdapter(ctx context.Context, name string, o adapter.Options) (turn.Adapter, error)
	Strengthen(ctx context.Context, a turn.Adapter, strength float32) (turn.Adapter, error)
	TidyAdapters(ctx context.Context, a turn.Adapter) error
	DropAdapter(ctx context.Context, fingerprint string) error
	ForgetAdapter(ctx context.Context, a turn.Adapter) error
	MergeAdapter(ctx context.Context, a turn.Adapter, merged bool) (turn.Adapter, error)
}

func (k chatWorkspace) Adapters(ctx context.Context) ([]turn.RegisteredAdapter, error) {
	return k.Workspace.Adapters().List(ctx)
}

func (k chatWorkspace) TakeAdapter(ctx context.Context, name string, o adapter.Options) (turn.Adapter, error) {
	return k.Workspace.Adapters().Find(ctx, name, o)
}

func (k chatWorkspace) Strengthen(ctx context.Context, a turn.Adapter, strength float32) (turn.Adapter, error) {
	return k.Workspace.Adapters().Strengthen(ctx, a, strength)
}

func (k chatWorkspace) TidyAdapters(ctx context.Context, a turn.Adapter) error {
	return k.Workspace.Adapters().Tidy(ctx, a)
}

func (k chatWorkspace) DropAdapter(ctx context.Context, fingerprint string) error {
	return k.Workspace.Adapters().Drop(ctx, fingerprint)
}

func (k chatWorkspace) ForgetAdapter(ctx context.Context, a turn.Adapter) error {
	return k.Workspace.Adapters().Forget(ctx, a)
}

func (k chatWorkspace) MergeAdapter(ctx context.Context, a turn.Adapter, merged bool) (turn.Adapter, error) {
	return k.Workspace.Adapters().Merge(ctx, a, merged)
}

// An adapterDialogue is the part of a dialogue that is about its adapter.
type adapterDialogue interface {
	SetAdapter(a turn.Adapter) error
	Reread() error
}

func (opening) SetAdapter(turn.Adapter) error { return errOpening }
func (opening) Reread() error                 { return errOpening }

// An adapterJob is what is being done with adapters. One is done at a time; of
// the strengths that are asked for meanwhile the last one counts.
type adapterJob struct {
	busy bool
	next func() tea.Cmd
}

// adaptersMsg brings the adapters that are known.
type adaptersMsg struct {
	list    []turn.RegisteredAdapter
	weights int64
	err     error
}

// adapterMsg says that something was done with an adapter; one to use in a
// dialogue, if d is not nil.
type adapterMsg struct {
	d    dialogue
	a    turn.Adapter
	said string
	file string          // that was to be loaded
	o    adapter.Options // with what is known of it
	err  error
}

// adapter opens the panel, or uses the adapter of a name or a file, or none.
func (m *Model) adapter(arg string) tea.Cmd {
	switch arg {
	case "":
		return tea.Batch(m.TogglePanel(keys.Adapters), m.listAdapters())
	case "off", "none":
		m.adapters.ChooseNone()
		return m.onAdapter(adapterMsg{d: m.tab().d, said: saidAdapter(turn.Adapter{})})
	}
	return m.loadAdapter(m.tab().d, kit.ExpandHome(arg), adapter.Options{})
}

// saidAdapter says what a change of the adapter does.
func saidAdapter(a turn.Adapter) string {
	if a.Name == "" {
		return "no adapter, from the next token on"
	}
	return kit.OneLine(a.Title()) + ", from the next token on"
}

// listAdapters asks for the adapters that are known, if they are shown.
func (m *Model) listAdapters() tea.Cmd {
	if m.panel.id != keys.Adapters {
		return nil
	}
	return func() tea.Msg {
		list, err := m.workspace.Adapters(m.ctx)
		weights := int64(0)
		if e := m.workspace.Engine(); e != nil {
			weights = e.Stats().Memory.Weights
		}
		return adaptersMsg{list, weights, err}
	}
}

func (m *Model) onAdapters(msg adaptersMsg) { m.adapters.Set(msg.list, msg.err, msg.weights) }

// loadAdapter uses an adapter by its name or file, with what is known of it.
func (m *Model) loadAdapter(d dialogue, name string, o adapter.Options) tea.Cmd {
	return m.work("loading "+name, func() tea.Msg {
		a, err := m.workspace.TakeAdapter(m.ctx, name, o)
		return adapterMsg{d: d, a: a, said: saidAdapter(a), file: name, o: o, err: err}
	})
}

// useAdapter uses an adapter at a strength, or none.
func (m *Model) useAdapter(use panel.UseAdapter) tea.Cmd {
	d := m.tab().d
	if use.Adapter.Name == "" {
		m.adapting.next = nil
		return m.onAdapter(adapterMsg{d: d, said: saidAdapter(turn.Adapter{})})
	}
	doing := fmt.Sprintf("loading %s at %.2f", use.Adapter.Name, use.Strength)
	return m.work(doing, func() tea.Msg {
		a, err := m.workspace.Strengthen(m.ctx, use.Adapter, use.Strength)
		return adapterMsg{d: d, a: a, said: saidAdapter(a), err: err}
	})
}

// work does something with adapters, after what is being done.
func (m *Model) work(doing string, do func() tea.Msg) tea.Cmd {
	start := func() tea.Cmd {
		m.adapting.busy, m.adapting.next = true, nil
		m.adapters.SetDoing(doing)
		return do
	}
	if m.adapting.busy {
		m.adapting.next = start
		return nil
	}
	return start()
}

// worked is called when something was done, and begins what waits.
func (m *Model) worked() tea.Cmd {
	m.adapting.busy = false
	m.adapters.SetDoing("")
	if next := m.adapting.next; next != nil {
		return next()
	}
	return nil
}

// onAdapter tells what has become of an adapter and gives it to the
// conversation. Those of other strengths go that nobody uses any more.
func (m *Model) onAdapter(msg adapterMsg) tea.Cmd {
	var q *adapter.QuestionError
	if errors.As(msg.err, &q) && msg.file != "" {
		m.askAboutAdapter(msg, q)
		return m.worked()
	}
	err := msg.err
	if err == nil && msg.d != nil {
		err = msg.d.SetAdapter(msg.a)
	}
	if c := m.tab().composer; err != nil && msg.file != "" && c.Empty() && len(m.dialogs) == 0 && m.panel.id != keys.Adapters {
		c.fill("/adapter " + msg.file) // to be put right
		m.edited()
	}
	if err == nil && msg.file != "" {
		m.adapters.GoTo(msg.a)
	}
	var tidy tea.Cmd
	if err == nil && msg.a.Name != "" {
		tidy = func() tea.Msg {
			_ = m.workspace.TidyAdapters(m.ctx, msg.a) // what stays is dropped another time
			return nil
		}
	}
	next := m.worked()
	return tea.Batch(m.report(msg.said, err), m.look(), next, tea.Sequence(tidy, m.listAdapters()))
}

// askAboutAdapter asks what a file does not say.
func (m *Model) askAboutAdapter(msg adapterMsg, q *adapter.QuestionError) {
	if len(q.Choices) > 0 && q.Choices[0] != "" {
		var entries []kit.Entry
		for _, c := range q.Choices {
			entries = append(entries, kit.Entry{Title: c, Detail: aboutBlocks[c], Choose: answerAdapter{msg, q.Asked, c}.do})
		}
		m.OpenDialog(kit.NewChooser(m.th, kit.OneLine(q.Problem), "choose", "", entries))
		return
	}
	m.OpenDialog(kit.NewQuestion(m.th, capital(q.Asked)+" of "+kit.OneLine(q.Path), kit.OneLine(capital(q.Problem))+". The trainer's settings have it; the scale of the change is alpha / rank.", "load it", "", false, func(h kit.Host, text string) tea.Cmd {
		return answerAdapter{msg, q.Asked, strings.TrimSpace(text)}.do(h)
	}))
}

// aboutBlocks says what the choices for a Bone file are.
var aboutBlocks = map[string]string{
	adapter.BlocksColumn: "a block for each piece of the inputs: BAT",
	adapter.BlocksRow:    "a block for each piece of the outputs: Bone before 2024-10",
}

type (
	// answerAdapter answers what a file does not say.
	answerAdapter struct {
		of     adapterMsg
		asked  string
		answer string
	}
	// loadAdapterFile loads a file for the conversation.
	loadAdapterFile struct{ path string }
	// forgetAdapter takes an adapter out of the list.
	forgetAdapter struct{ a turn.Adapter }
)

func (i answerAdapter) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	o := i.of.o
	switch i.asked {
	case "blocks":
		o.Blocks = i.answer
	case "alpha":
		alpha, err := strconv.ParseFloat(i.answer, 32)
		if err != nil || !(alpha > 0) {
			kit.Refuse(m, fmt.Errorf("%q is no alpha: a number above 0 is needed", i.answer))
			return nil
		}
		o.Alpha = float32(alpha)
	default:
		o.Init = kit.ExpandHome(i.answer)
	}
	m.CloseDialog()
	return m.loadAdapter(i.of.d, i.of.file, o)
}

func (i loadAdapterFile) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	if i.path == "" {
		return nil
	}
	return m.loadAdapter(m.tab().d, kit.ExpandHome(i.path), adapter.Options{})
}

func (i forgetAdapter) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialogs()
	return m.work("forgetting "+i.a.Name, func() tea.Msg {
		return adapterMsg{said: kit.OneLine(i.a.Name) + " is forgotten; its file stays", err: m.workspace.ForgetAdapter(m.ctx, i.a)}
	})
}

// adapterAsks does what the panel asks for.
func (m *Model) adapterAsks(action panel.Action) tea.Cmd {
	switch action := action.(type) {
	case panel.UseAdapter:
		return m.useAdapter(action)
	case panel.LoadAdapter:
		m.OpenDialog(kit.NewQuestion(m.th, "Load an adapter", "A .pth or .safetensors file of a LoRA, PiSSA, DoRA, DiSHA, BAT, Bone, MoLE or replaced tensors.", "load it", "", false, func(h kit.Host, path string) tea.Cmd {
			return loadAdapterFile{strings.TrimSpace(path)}.do(h)
		}))
	case panel.DropAdapter:
		return m.dropAdapter(action.Family)
	case panel.ForgetAdapter:
		a := action.Adapter
		if a.Path == "" {
			return m.fail(fmt.Errorf("%s comes with the model and stays in the list", a.Name))
		}
		m.OpenDialog(&kit.Confirmation{Title: "Forget the adapter?", Text: fmt.Sprintf("“%s” goes out of the list; its file stays. Conversations that use it ask for it again.", kit.OneLine(a.Name)), Verb: "forget", Accept: forgetAdapter{a}.do})
	case panel.MergeAdapter:
		said := kit.OneLine(action.Adapter.Name) + " is merged: it has weights of its own"
		if !action.Merged {
			said = kit.OneLine(action.Adapter.Name) + " is beside the weights again"
		}
		return m.work("merging "+action.Adapter.Name, func() tea.Msg {
			_, err := m.workspace.MergeAdapter(m.ctx, action.Adapter, action.Merged)
			return adapterMsg{said: said, err: err}
		})
	}
	return nil
}

// dropAdapter gives the memory of an adapter back.
func (m *Model) dropAdapter(family []turn.RegisteredAdapter) tea.Cmd {
	return m.work("dropping "+family[0].Name, func() tea.Msg {
		var err error
		for _, a := range family {
			if a.Loaded != nil {
				err = errors.Join(err, m.workspace.DropAdapter(m.ctx, a.Fingerprint))
			}
		}
		return adapterMsg{said: kit.OneLine(family[0].Name) + " is out of memory; it is loaded again when it is used", err: err}
	})
}

// An adaptersPanel is the panel as the program carries it out.
type adaptersPanel struct{ *panel.Adapters }

func carryAdapters(a panel.Action) kit.Action {
	switch a.(type) {
	case nil:
		return nil
	case panel.Close:
		return func(h kit.Host) tea.Cmd { return h.Run(keys.ClosePanel, "") }
	}
	return func(h kit.Host) tea.Cmd { return h.(*Model).adapterAsks(a) }
}

func (p adaptersPanel) HandleKey(k tea.KeyPressMsg) (kit.Action, bool) {
	a, taken := p.Adapters.HandleKey(k)
	return carryAdapters(a), taken
}

func (p adaptersPanel) Press(x, y int) kit.Action { return carryAdapters(p.Adapters.Press(x, y)) }
func (p adaptersPanel) Drag(x, y int) kit.Action  { return carryAdapters(p.Adapters.Drag(x, y)) }

// Look tells the panel what the conversation uses.
func (p adaptersPanel) Look(h kit.Host) tea.Cmd {
	v := h.Tab().View()
	p.SetUse(v.Conversation.ID, v.Conversation.Adapter, v.Adapter)
	return nil
}

// adaptersTable says what the actions on adapters and models do.
func (m *Model) adaptersTable() map[keys.ID]func(string) tea.Cmd {
	return map[keys.ID]func(string) tea.Cmd{
		keys.Adapters: m.adapter,
		keys.Reread:   func(arg string) tea.Cmd { return m.command(keys.Reread, arg) },
	}
}
