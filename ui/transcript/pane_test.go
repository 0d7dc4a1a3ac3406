package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A pane is a transcript of a conversation that a test makes up.
type pane struct {
	*Transcript
	t testing.TB
	v chat.View
}

func newPane(t testing.TB, width, height int) *pane {
	t.Helper()
	th, err := theme.New(theme.Default, true)
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, Transcript: New(Options{Theme: th, Keys: keys.Default(), ModelName: "rook"})}
	p.SetSize(width, height, height)
	return p
}

// lecture is a conversation of many turns.
func lecture(t testing.TB, questions int) *pane {
	t.Helper()
	p := newPane(t, 80, 20)
	for i := range questions {
		p.say(turn.RoleUser, fmt.Sprintf("question %d", i))
		p.say(turn.RoleAssistant, fmt.Sprintf("answer %d, in **bold** and with several words", i))
	}
	p.look()
	return p
}

// say adds a turn.
func (p *pane) say(role turn.Role, text string) {
	tn := turn.Turn{ID: turn.ID(len(p.v.Turns) + 1), Role: role, Text: text}
	if role == turn.RoleAssistant {
		tn.Reason, tn.Usage = infer.ReasonStop, infer.Usage{Generated: 128, DecodeTime: 3 * time.Second}
	}
	p.v.Turns = append(p.v.Turns, tn)
	p.v.Siblings = append(p.v.Siblings, chat.Siblings{N: 1, Of: 1})
}

// generate begins or continues a running answer.
func (p *pane) generate(text string, tokens int) {
	p.v.Live = &chat.Live{
		Turn: turn.Turn{ID: turn.ID(len(p.v.Turns) + 1), Role: turn.RoleAssistant},
		Text: text, Progress: infer.Progress{Generated: tokens, Rate: 12.3},
	}
	p.look()
}

// end makes a turn of the running answer.
func (p *pane) end() {
	text := p.v.Live.Text
	p.v.Live = nil
	p.say(turn.RoleAssistant, text)
	p.look()
}

// look takes over what was made up, and renders it.
func (p *pane) look() {
	p.v.Version++
	p.Sync(p.v)
	p.renderAll()
}

func (p *pane) renderAll() {
	for cmd := p.Render(); cmd != nil; cmd = p.Render() {
		cmd().(kit.Action)(nil)
	}
}

// screen is what is seen, without styles.
func (p *pane) screen() string {
	lines := p.Draw()
	if len(lines) != p.height {
		p.t.Fatalf("%d lines, not %d", len(lines), p.height)
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > p.width {
			p.t.Fatalf("a line is %d wide, not %d: %q", w, p.width, line)
		}
	}
	return ansi.Strip(strings.Join(lines, "\n"))
}

func (p *pane) firstLine() string { return strings.Split(p.screen(), "\n")[0] }

// row is the row that shows a text.
func (p *pane) row(text string) int {
	p.t.Helper()
	for i, line := range strings.Split(p.screen(), "\n") {
		if strings.Contains(line, text) {
			return i
		}
	}
	p.t.Fatalf("%q is not shown:\n%s", text, p.screen())
	return 0
}

func (p *pane) sees(text string) {
	p.t.Helper()
	if s := p.screen(); !strings.Contains(s, text) {
		p.t.Errorf("%q is not shown:\n%s", text, s)
	}
}

func (p *pane) seesNot(text string) {
	p.t.Helper()
	if s := p.screen(); strings.Contains(s, text) {
		p.t.Errorf("%q is shown:\n%s", text, s)
	}
}
