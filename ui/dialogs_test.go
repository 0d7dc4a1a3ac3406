package ui

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/uitest"
)

func TestEveryActionIsCarriedOutSomewhere(t *testing.T) {
	b := newBench(t, &scene{}, Settings{}, 80, 24)
	for _, a := range keys.Actions() {
		_, run := b.m.actions[a.ID]
		elsewhere := kit.IsEdit(a.ID) || a.Category == keys.Lists || a.Category == keys.Comparison
		if run == elsewhere {
			t.Errorf("%s: in the table of actions %v, carried out elsewhere %v", a.ID, run, elsewhere)
		}
	}
	for id := range b.m.actions {
		if _, known := keys.Find(id); !known {
			t.Errorf("%s is carried out and not in the table", id)
		}
	}
}

// Whatever a dialog waits for, the key that quits does.
func TestEveryDialogCanBeLeftForGood(t *testing.T) {
	opened := 0
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	for _, a := range keys.Actions() {
		if _, runs := b.m.actions[a.ID]; !runs || a.ID == keys.Quit || a.Args == "" && a.ID == keys.Suspend {
			continue
		}
		b.m.dialogs, b.m.leaving = nil, false
		b.do(b.m.act(a.ID, ""))
		if len(b.m.dialogs) == 0 {
			continue
		}
		opened++
		if b.press("ctrl+q"); !b.m.leaving {
			t.Errorf("the dialog of %s cannot be left with ctrl+q", a.ID)
		}
		b = newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	}
	if opened < 10 {
		t.Errorf("only %d actions have opened a dialog", opened)
	}
}

func TestHelpAndPaletteShowTheWholeTable(t *testing.T) {
	b := newBench(t, &scene{}, Settings{}, 120, 400)
	b.press("f1")
	sheet := b.screen()
	for _, a := range keys.Actions() {
		if !strings.Contains(sheet, strings.Fields(a.Help)[0]) || len(a.Keys) > 0 && !strings.Contains(sheet, a.Keys[0]) {
			t.Errorf("the help does not show %s", a.ID)
		}
	}
	b.press("esc", "ctrl+p")
	b.sees("New conversation")
	b.seesNot("Character left")
}

func TestPaletteRunsActions(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	b.press("ctrl+p")
	b.typeText("retry")
	b.press("enter")
	b.rest()
	b.sees(uitest.Answer)
	b.press("ctrl+p")
	b.typeText("temperature")
	b.press("enter")
	b.sees("› /temp")
}

func TestReboundKeys(t *testing.T) {
	b := newBench(t, &scene{}, Settings{Keys: map[string][]string{"palette": {"f6"}, "continue": {}}}, 80, 24)
	b.press("ctrl+p")
	b.seesNot("Commands")
	b.press("f6")
	b.sees("Commands")
}

func TestWrongSettingsAreShownAndReplaced(t *testing.T) {
	bad := Settings{Theme: "none", Keys: map[string][]string{"palette": {"ctrl+i"}}}
	if err := bad.Validate(); err == nil {
		t.Error("accepted at the start")
	}
	b := newBench(t, &scene{}, bad, 100, 24)
	b.sees(`✗ ui.theme: no theme is called "none"`)
	b.press("esc", "ctrl+p")
	b.sees("Commands")
}

func TestReload(t *testing.T) {
	b := newBench(t, &scene{}, Settings{Mouse: true}, 100, 24)
	b.send(settingsMsg{Keys: map[string][]string{"new_tab": {"f6"}, "continue": {"alt+c"}}})
	b.sees("the configuration was read again")
	if b.m.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse stays on")
	}
	b.press("f6")
	if len(b.m.tabs) != 2 {
		t.Error("the new key does nothing")
	}
	b.send(settingsMsg{Appearance: "blue"})
	b.sees(`✗ the configuration was not taken over: ui.appearance: "blue"`)
	b.send(settingsMsg{Err: errors.New("config.toml:3: unknown key")})
	b.sees("✗ the configuration was not read again: config.toml:3: unknown key")
	b.press("f6")
	if len(b.m.tabs) != 3 {
		t.Error("a broken configuration changed the keys")
	}
}

func TestBackground(t *testing.T) {
	for _, c := range []struct {
		appearance string
		dark       bool
	}{{"", false}, {"auto", false}, {"dark", true}, {"light", false}} {
		b := newBench(t, &scene{}, Settings{Appearance: c.appearance}, 80, 24)
		b.m.setBackground(false)
		if b.m.dark != c.dark || b.m.th.Dark != c.dark {
			t.Errorf("appearance %q on a light terminal: dark %v", c.appearance, b.m.dark)
		}
	}
}

func TestSystemPrompt(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	b.press("alt+s")
	b.typeText("Be brief.")
	b.press("ctrl+j")
	b.send(tea.PasteMsg{Content: "Be kind.\r\n"})
	b.press("enter")
	b.told("Be brief.\nBe kind.")
	b.press("alt+s", "ctrl+u", "ctrl+u", "ctrl+u", "ctrl+u", "enter")
	b.told("")
}

// told fails unless this is the system prompt.
func (b *bench) told(text string) {
	b.t.Helper()
	if got := b.m.tab().d.View().Conversation.System; got != text {
		b.t.Errorf("the system prompt is %q, want %q", got, text)
	}
}
