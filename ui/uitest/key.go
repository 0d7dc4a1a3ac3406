package uitest

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// named are keys that are not one character.
var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}

// Key is a key by its name, as the configuration writes it.
func Key(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	k := tea.KeyPressMsg{}
	rest := name
	for {
		mod, after, found := strings.Cut(rest, "+")
		if !found || after == "" {
			break
		}
		switch mod {
		case "ctrl":
			k.Mod |= tea.ModCtrl
		case "alt":
			k.Mod |= tea.ModAlt
		case "shift":
			k.Mod |= tea.ModShift
		default:
			t.Fatalf("no such key: %q", name)
		}
		rest = after
	}
	if code, ok := named[rest]; ok {
		k.Code = code
		return k
	}
	r := []rune(rest)
	if len(r) != 1 {
		t.Fatalf("no such key: %q", name)
	}
	k.Code = r[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return k
}
