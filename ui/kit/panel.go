package kit

import (
	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A Panel is a rectangle beside the messages. It lives as long as the program,
// open or not.
type Panel interface {
	// Title is its name, on the screen and in the help.
	Title() string
	// Keys are the keys that it has for itself, beside those of the action
	// table, and what they do.
	Keys() [][2]string
	SetTheme(th theme.Theme)
	// SetSize sets the size of what Draw returns, in cells.
	SetSize(width, height int)
	// Draw returns as many lines as the panel is high, each exactly as wide as
	// the panel. It changes nothing.
	Draw() string
	// HandleKey says what a key asks for, if anything, and whether the panel
	// has use for the key at all.
	HandleKey(k tea.KeyPressMsg) (a Action, taken bool)
	// Wheel scrolls by steps of the wheel, down if positive.
	Wheel(by int)
	// Look takes over what is to be shown. It is called in Update, after each
	// message while the panel is open.
	Look(h Host) tea.Cmd
}

// A Pointer is a panel that the mouse can change. Places are cells of what
// Draw returns.
type Pointer interface {
	// Press is the left button going down.
	Press(x, y int) Action
	// Drag is the pointer moving while it is down.
	Drag(x, y int) Action
	// Release is the button going up.
	Release()
}

// A Typist is a panel that numbers are typed into.
type Typist interface {
	// StopTyping forgets what was typed and what was wrong with it: the panel is
	// put away.
	StopTyping()
}

// A Watcher is a panel that changes by itself: it is drawn again twice a second.
// It only shows, so that the keyboard stays with the prompt when it is opened.
type Watcher interface{ Watches() bool }

// A Strip is a few lines between the messages and the prompt.
type Strip interface {
	// Title and Keys are as those of a Panel.
	Title() string
	Keys() [][2]string
	// Look takes over what is to be shown, before the screen is divided.
	Look(h Host)
	// Rows is how many lines it takes of a screen; 0: it is not seen.
	Rows(width, height int) int
	// Draw returns as many lines.
	Draw(th theme.Theme, width, height int) []string
	// Focused says whether it has the keyboard, and Blur takes it away.
	Focused() bool
	Blur()
	// HandleKey is a key while it has the keyboard.
	HandleKey(k tea.KeyPressMsg) (a Action, taken bool)
	// Hints are the keys to point at, each before what it does.
	Hints(th theme.Theme, m keys.Map) []string
	// Press is the left button going down on a column of a screen of a width.
	Press(x, width int) Action
}
