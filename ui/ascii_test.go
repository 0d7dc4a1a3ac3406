package ui

import (
	"strings"
	"testing"

	"rookery/chat/turn"
)

func TestASCIIOnly(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "en_GB.UTF-8"}, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "C", "LC_ALL": "C.utf8"}, false},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_CTYPE": "de_DE.ISO-8859-1"}, true},
		{map[string]string{"LANG": "en_GB.UTF-8", "TERM": "linux"}, true},
	} {
		if got := asciiOnly(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}

func TestScreensOfASCII(t *testing.T) {
	k := three()
	k.open[1].say(turn.RoleUser, "hello")
	k.open[1].say(turn.RoleAssistant, "- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n```go\nx := 1\n```")
	b := newBench(t, k, Settings{}, 100, 30)
	b.m.setASCII(true)
	for _, keys := range [][]string{nil, {"f4"}, {"f3"}, {"esc", "f1"}, {"esc", "ctrl+p"}, {"esc", "ctrl+o"}, {"esc", "tab"}, {"ctrl+f"}} {
		b.press(keys...)
		b.check()
		if i := strings.IndexFunc(b.screen(), func(r rune) bool { return r > '~' }); i >= 0 {
			t.Fatalf("after %v: a character beyond ASCII: %.40q\n%s", keys, b.screen()[i:], b.screen())
		}
	}
}
