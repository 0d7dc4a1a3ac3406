package ui

import (
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/terminal"
)

// hostile is a text that a terminal would act on, and that hides and turns around.
const hostile = "up\x1b]52;c;eA==\a\x1b[2J\u009b5mon \u202ethe\u2066 ro\u200bof\ufeff\U000e0041\U000e0042 👨\u200d👩\u200d👧"

// style is what the interface itself sends: colours, and addresses of links.
var style = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\]8;[^\x1b\a]*(\x1b\\\\|\a)")

// seesNothingHostile says that a frame is only text and styles.
func (b *bench) seesNothingHostile(where string) {
	b.t.Helper()
	v := b.m.View()
	for _, text := range []string{style.ReplaceAllString(v.Content, ""), v.WindowTitle} {
		if clean := terminal.Clean(text); clean != text {
			at := 0
			for at < len(clean) && clean[at] == text[at] {
				at++
			}
			b.t.Errorf("%s: %+q", where, text[max(0, at-40):min(len(text), at+40)])
		}
	}
}

// What a file or a model says reaches the terminal through one function: in
// titles, prompts, answers from their first frame on, dialogs, search and notices.
func TestNothingHostileIsDrawn(t *testing.T) {
	d := newSketch(100, hostile)
	d.conversation.System = hostile
	d.say(turn.RoleUser, hostile)
	a := d.say(turn.RoleAssistant, hostile+"\n\n```go\n"+hostile+"\n```\n\n| a |\n|---|\n| "+hostile+" |\n")
	a.ModelName, a.Base, a.Adapter, a.Label = hostile, hostile, hostile, hostile
	k := &scene{open: []*sketch{d}, stored: []turn.Conversation{newSketch(200, hostile).conversation}}
	b := newBench(t, k, Settings{}, 100, 40)
	b.seesNothingHostile("the first frame")
	b.rest()
	b.seesNothingHostile("at rest")
	b.sees("👨\u200d👩\u200d👧")
	for _, keys := range [][]string{{"ctrl+o"}, {"f2"}, {"esc"}, {"esc"}, {"ctrl+t"}, {"esc"}, {"ctrl+p"}, {"esc"}, {"f1"}, {"esc"}} {
		b.press(keys...)
		b.seesNothingHostile(strings.Join(keys, " "))
	}
	for _, command := range []string{"/rename " + hostile, "/search roof", "/system", "/label " + hostile, "/import " + hostile, "/model " + hostile, "/state " + hostile, "/adapter " + hostile, hostile} {
		b.send(tea.PasteMsg{Content: command})
		b.seesNothingHostile("typed " + command[:min(8, len(command))])
		b.press("enter")
		b.seesNothingHostile("sent " + command[:min(8, len(command))])
		b.rest()
		b.seesNothingHostile("after " + command[:min(8, len(command))])
		b.press("esc", "esc")
	}
}
