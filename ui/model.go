package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"
	"github.com/charmbracelet/colorprofile"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/composer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A Model is the whole interface. It is changed by Update only, in place.
type Model struct {
	ctx       context.Context // ends with the program
	quit      context.CancelFunc
	workspace *chat.Workspace
	model     *infer.Model // what the engine runs; nil if unknown
	reload    <-chan Settings
	settings  Settings
	version   string
	dataDir   string
	options   Options

	keymap keys.Map
	th     theme.Theme
	dark   bool
	ascii  bool // draw with ASCII characters alone
	mouse  bool
	// colourless says that the terminal shows attributes and no colours.
	colourless bool

	width, height int
	place         layout
	tabs          []*tab
	active        int
	closed        []closedTab
	focus         keys.Context // Composer, Transcript or Panel
	dialogs       []kit.Dialog
	panel         sidePanel
	strip         kit.Strip
	history       *composer.History

	drafts  drafts
	notice  notice
	notices int    // counts them
	trouble string // of the store, as it was last told
	monitor monitor
	frames  frameLoop
	blurred bool
	resumed chan struct{} // closed when a suspended program comes back; nil: it was not suspended
	leaving bool          // the program is about to end
	doubted time.Time     // when quitting was last half asked for

	features   []kit.Feature
	actions    map[keys.ID]func(arg string) tea.Cmd
	clock      func() time.Time
	after      func(time.Duration, tea.Msg) tea.Cmd // sends a message later
	clipboard  func(string) error                   // the system's
	jobControl func() bool                          // a shell waits behind the program
	drawSoon   func()                               // what Update changes is drawn soon
}

// New makes a model that lasts as long as ctx. It does nothing slow: conversations are opened by Init's
// command. Settings that are wrong are replaced by the defaults and reported;
// see Settings.Validate.
func New(ctx context.Context, o Options) *Model {
	ctx, quit := context.WithCancel(ctx)
	m := &Model{
		ctx: ctx, quit: quit, workspace: o.Workspace, model: modelOf(o.Workspace), reload: o.Reload, settings: o.Settings, version: o.Version, dataDir: o.DataDir, options: o,
		dark: o.Settings.Appearance != "light", focus: keys.Composer, mouse: o.Settings.Mouse,
		clock: time.Now, after: later, clipboard: clipboard.WriteAll, jobControl: hasJobControl, drawSoon: func() {}, drafts: drafts{saved: map[turn.ID]turn.Draft{}}, history: &composer.History{},
	}
	if o.Clipboard != nil {
		m.clipboard = o.Clipboard
	}
	m.features = features(o)
	m.addPanels()
	m.actions = m.table()
	if err := m.applySettings(o.Settings); err != nil {
		m.notice = notice{text: err.Error(), failed: true}
	}
	if o.Problem != nil {
		m.notice = notice{text: o.Problem.Error(), failed: true}
	}
	m.tabs = []*tab{m.openTab(nil)}
	return m
}

func later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// modelOf is what the workspace's engine runs, or nil.
func modelOf(w *chat.Workspace) *infer.Model {
	if e := w.Engine(); e != nil {
		return e.Model()
	}
	return nil
}

// Init asks the terminal for its background and opens what was open last time.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.restore(), m.history.Load(m), m.awaitSettings()}
	if m.settings.Appearance == "" || m.settings.Appearance == "auto" {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update carries out one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.drawSoon()
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = m.pressKey(msg)
	case tea.PasteMsg:
		cmd = m.pasteText(msg.Content)
	case tea.MouseMsg:
		cmd = m.onMouse(msg)
	case tea.FocusMsg:
		cmd = m.noteFocus()
	case tea.BlurMsg:
		m.blurred = true
	case tea.ColorProfileMsg:
		m.colourless = msg.Profile <= colorprofile.ASCII
	case tea.BackgroundColorMsg:
		m.setBackground(msg.IsDark())
	case draftMsg:
		m.saveDrafts()
	case tea.ResumeMsg:
		m.noteResumed()
	case frameMsg:
		cmd = m.showFrame()
	case tickMsg:
		cmd = m.animate()
	case settingsMsg:
		cmd = m.onSettings(Settings(msg))
	case kit.Action:
		cmd = msg(m)
	case noticeMsg:
		cmd = m.onNotice(msg)
	}
	look := m.lookPanel()
	m.arrange()
	return m, tea.Batch(cmd, look, m.noteDraft(), m.tab().composer.Attend(m), m.tab().transcript.Render())
}

// tab is the active one. There is always one.
func (m *Model) tab() *tab { return m.tabs[m.active] }

// modelName is what answers are headed with.
func (m *Model) modelName() string {
	if m.model == nil || m.model.Name == "" {
		return "Answer"
	}
	return m.model.Name
}
