package keys_test

import (
	"flag"
	"strings"
	"testing"
	"unicode/utf8"

	"rookery/ui/keys"
)

var update = flag.Bool("update", false, "write docs/keys.md")

// helpWidth is the longest help line that the help screen shows whole beside
// a key at 80 columns.
const helpWidth = 50

func TestTableIsSound(t *testing.T) {
	ids, slashes := map[keys.ID]bool{}, map[string]keys.ID{}
	for _, a := range keys.Actions() {
		if ids[a.ID] {
			t.Errorf("%s occurs twice", a.ID)
		}
		ids[a.ID] = true
		if a.Title == "" || a.Help == "" || a.Category == "" || a.Contexts == 0 {
			t.Errorf("%s is incomplete: %+v", a.ID, a)
		}
		if strings.HasSuffix(a.Help, ".") || strings.Contains(a.Help, "\n") {
			t.Errorf("%s: help must be one line without a full stop: %q", a.ID, a.Help)
		}
		if n := utf8.RuneCountInString(a.Help); n > helpWidth {
			t.Errorf("%s: help has %d characters, %d fit: %q", a.ID, n, helpWidth, a.Help)
		}
		if a.Slash == "" && (a.Args != "" || len(a.Aliases) > 0) {
			t.Errorf("%s has arguments but no slash command", a.ID)
		}
		if len(a.Keys) == 0 && a.Slash == "" {
			t.Errorf("%s can be reached by no key and no command", a.ID)
		}
		for _, s := range append([]string{a.Slash}, a.Aliases...) {
			if s == "" {
				continue
			}
			if other, taken := slashes[s]; taken {
				t.Errorf("/%s is both %s and %s", s, other, a.ID)
			}
			slashes[s] = a.ID
			if found, ok := keys.Slash(s); !ok || found.ID != a.ID {
				t.Errorf("Slash(%q) = %v, %v", s, found.ID, ok)
			}
		}
		for _, k := range a.Keys {
			if n, err := keys.Normalize(k); err != nil || n != k {
				t.Errorf("%s: key %q: normalized %q, %v", a.ID, k, n, err)
			}
		}
		if found, ok := keys.Find(a.ID); !ok || found.Title != a.Title {
			t.Errorf("Find(%s) = %v, %v", a.ID, found, ok)
		}
	}
	if _, err := keys.New(nil); err != nil {
		t.Error(err)
	}
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: "shift+ctrl+F5", want: "ctrl+shift+f5"},
		{in: "Alt+Enter", want: "alt+enter"},
		{in: "alt+A", want: "alt+shift+a"},
		{in: "shift+a", want: "A"},
		{in: "control+PageUp", want: "ctrl+pgup"},
		{in: "ctrl++", want: "ctrl++"},
		{in: "+", want: "+"},
		{in: " ", want: "space"},
		{in: "escape", want: "esc"},
		{in: "é", want: "é"},
		{in: "ctrl+i", err: "tab"},
		{in: "ctrl+m", err: "enter"},
		{in: "ctrl+[", err: "esc"},
		{in: "alt+[", err: "escape sequence"},
		{in: "hold+x", err: `"hold" is not one of`},
		{in: "ctrl+page", err: "is not a key"},
		{in: "", err: "is not a key"},
		{in: "ctrl+", err: "is not a key"},
		{in: "\x01", err: "cannot be printed"},
	} {
		got, err := keys.Normalize(c.in)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("Normalize(%q) = %q, %v; want %q", c.in, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("Normalize(%q) = %q, %v; want an error with %q", c.in, got, err, c.err)
		}
	}
}

func TestOverrides(t *testing.T) {
	m, err := keys.New(map[string][]string{"new_tab": {"Ctrl+F12", "alt+A"}, "copy_code": {}, "search": {"s"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		context keys.Context
		key     string
		want    keys.ID
	}{
		{keys.Composer, "ctrl+f12", keys.NewTab},
		{keys.Transcript, "alt+shift+a", keys.NewTab},
		{keys.Composer, "ctrl+t", ""},
		{keys.Composer, "alt+k", ""},
		{keys.Transcript, "s", keys.Search},
		{keys.Composer, "s", ""},
		{keys.Composer, "enter", keys.Send},
		{keys.Transcript, "enter", keys.FocusComposer},
		{keys.List, "enter", keys.ListAccept},
		{keys.List, "ctrl+f12", ""},
		{keys.Composer, "?", ""},
		{keys.Panel, "?", ""},
		{keys.Transcript, "?", keys.Help},
		{keys.Panel, "q", keys.ClosePanel},
	} {
		if got, _ := m.Lookup(c.context, c.key); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.key, c.context, got, c.want)
		}
	}
	if got := m.Hint(keys.Composer, keys.NewTab); got != "ctrl+f12" {
		t.Errorf("hint %q", got)
	}
	if got := m.Hint(keys.Composer, keys.CopyCode); got != "" {
		t.Errorf("hint of an action without keys: %q", got)
	}
}

func TestOverrideErrors(t *testing.T) {
	for name, c := range map[string]struct {
		overrides map[string][]string
		want      []string
	}{
		"unknown action":  {map[string][]string{"newtab": {"ctrl+f12"}}, []string{"keys.newtab: there is no such action"}},
		"near miss":       {map[string][]string{"tab_new_tab": {"ctrl+f12"}}, []string{"did you mean new_tab?"}},
		"unusable":        {map[string][]string{"new_tab": {"ctrl+i"}}, []string{"keys.new_tab", "from tab"}},
		"no key":          {map[string][]string{"new_tab": {"banana"}}, []string{"keys.new_tab", `"banana" is not a key`}},
		"conflict":        {map[string][]string{"new_tab": {"ctrl+p"}}, []string{`keys.new_tab: "ctrl+p" is also the key of palette`}},
		"conflict, later": {map[string][]string{"quit": {"enter"}}, []string{`keys.quit: "enter" is also the key of send`}},
		"two overrides":   {map[string][]string{"new_tab": {"ctrl+f12"}, "retry": {"ctrl+f12"}}, []string{`"ctrl+f12" is also the key of`}},
		"types text":      {map[string][]string{"editor": {"e"}}, []string{"keys.editor", "types a character"}},
		"all are named":   {map[string][]string{"a_": nil, "new_tab": {"ctrl+m"}}, []string{"keys.a_", "keys.new_tab"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := keys.New(c.overrides)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}
