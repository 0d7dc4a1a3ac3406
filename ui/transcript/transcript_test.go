package transcript

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
)

func TestTheEndSticksUnlessScrolledAway(t *testing.T) {
	p := lecture(t, 40)
	text := ""
	more := func(n int) {
		for i := range n {
			text += fmt.Sprintf("\nline %d of the answer\n", i)
			p.generate(text, i+1)
		}
	}
	more(20)
	p.sees("line 19 of the answer")
	p.ScrollBy(-18)
	top := p.firstLine()
	if p.NewBelow() {
		t.Error("text is new below before any arrived")
	}
	more(20)
	if got := p.firstLine(); got != top {
		t.Errorf("the text moved from %q to %q while it was read", top, got)
	}
	if _, away := p.Position(); !away || !p.NewBelow() {
		t.Error("nothing says that text is new below")
	}
	p.ScrollToEnd()
	if p.NewBelow() {
		t.Error("text is new below at the end")
	}
}

func TestResizingKeepsTheTextInView(t *testing.T) {
	p := lecture(t, 60)
	p.scrollTo(0)
	p.ScrollBy(40)
	top := p.firstLine()
	for _, width := range []int{60, 41, 200, 80} {
		p.SetSize(width, 20, 20)
		p.renderAll()
		p.screen()
	}
	if got := p.firstLine(); got != top {
		t.Errorf("%q is at the top, it was %q", got, top)
	}
}

func TestAnAnswerIsSettledAndRenderedExactly(t *testing.T) {
	p := newPane(t, 80, 20)
	p.say(turn.RoleUser, "Q")
	p.generate("A [link][1]", 3)
	p.sees("12.3 tok/s · 3 tokens")
	p.generate("A [link][1] and more\n\n[1]: https://example.org", 9)
	p.end()
	p.seesNot("[1]")
	p.sees("A link")
	if last := p.blocks[len(p.blocks)-1]; !last.exact || last.stream != nil {
		t.Errorf("the answer was not rendered again: %+v", last)
	}
}

func TestRetryReplacesTheAnswer(t *testing.T) {
	p := lecture(t, 2)
	p.sees("answer 1")
	p.v.Turns, p.v.Siblings = p.v.Turns[:3:3], p.v.Siblings[:3:3]
	p.generate("Something else", 1)
	p.seesNot("answer 1")
	p.sees("Something else")
	p.generate("Rewritten", 1)
	p.sees("Rewritten")
	p.seesNot("Something else")
}

func TestThoughtsAndLongPromptsAreFolded(t *testing.T) {
	p := newPane(t, 80, 24)
	p.say(turn.RoleUser, strings.Repeat("a long line of a book\n", 500))
	p.say(turn.RoleAssistant, "<think>\nmy secret thought\n</think>\nThe answer.")
	p.look()
	p.sees("… 11.0 kB in 500 lines · alt+h shows all")
	p.sees("▸ thought, 3 words")
	p.seesNot("my secret thought")
	p.fold()
	p.renderAll()
	p.sees("my secret thought")
	p.scrollTo(0)
	p.seesNot("shows all")
	if n := p.total(); n < 500 {
		t.Errorf("%d lines are unfolded", n)
	}
	p.fold()
	p.ScrollToEnd()
	p.SelectShown()
	p.fold()
	p.sees("my secret thought")
	p.sees("shows all")
	p.Press(4, p.row("▾ thought"))
	p.seesNot("my secret thought")
	if p.Dragging() {
		t.Error("the click that folds begins to mark text")
	}
}

func TestMarkingWithTheMouse(t *testing.T) {
	p := newPane(t, 80, 20)
	p.say(turn.RoleUser, "first line\nsecond 中文 line\nthird line")
	p.look()
	y := p.row("first line")
	p.Press(2+6, y)
	p.Drag(2+10, y+1)
	if p.Release() == nil || p.markedText() != "line\nsecond 中文" {
		t.Errorf("marked %q", p.markedText())
	}
	if !strings.Contains(strings.Join(p.Draw(), "\n"), p.th.Selected.Render("line")) {
		t.Error("what is marked is not seen any more")
	}
	if p.CopyMarked() == nil || !p.ClearMarks() || p.ClearMarks() || p.CopyMarked() != nil {
		t.Error("what is marked does not go away")
	}
	p.Press(5, y)
	if p.Release() != nil {
		t.Error("a click copies")
	}
}

func TestSearching(t *testing.T) {
	p := lecture(t, 40)
	p.search("QUESTION 1")
	if _, total := p.Found(); total != 11 {
		t.Errorf("%d matches", total)
	}
	p.sees("question 1")
	before, _ := p.Found()
	for _, by := range []int{1, 1, -1} {
		p.nextMatch(by)
	}
	if got, _ := p.Found(); got != before%11+1 {
		t.Errorf("match %d, was %d", got, before)
	}
	if !p.EndSearch() || p.EndSearch() {
		t.Error("the search does not end")
	}
}

func TestShowTurn(t *testing.T) {
	p := lecture(t, 40)
	if !p.ShowTurn(11, "question") || p.firstLine() == "" {
		t.Error("the turn is not there")
	}
	p.sees("question 5")
	if id, ok := p.Selected(); !ok || id != 11 {
		t.Errorf("turn %d is selected", id)
	}
	if p.ShowTurn(1000, "") {
		t.Error("a turn that is not there is shown")
	}
}

func TestControlCharactersNeverReachTheTerminal(t *testing.T) {
	p := newPane(t, 80, 24)
	p.say(turn.RoleUser, "a\x1b[2Jb\x07c\u009b31md")
	p.say(turn.RoleAssistant, "x\x1b[2Jy\x07z\u009b31m <think>\x1b[5m")
	p.v.Err = errors.New("bad \x1b[2J news\nin two lines")
	p.look()
	content := strings.Join(p.Draw(), "\n")
	for _, bad := range []string{"\x1b[2J", "\x07", "\u009b", "\x1b]0", "\x1b[5m"} {
		if strings.Contains(content, bad) {
			t.Errorf("the screen holds %q", bad)
		}
	}
}

func TestAVeryLongConversationIsRenderedInParts(t *testing.T) {
	p := newPane(t, 80, 24)
	for i := range 2000 {
		p.say(turn.RoleAssistant, fmt.Sprintf("answer %d, in **bold** and with several words", i))
	}
	p.v.Version++
	p.Sync(p.v)
	p.sees("answer 1999")
	if jobs := p.chooseJobs(); len(jobs) == 0 || len(jobs) >= 2000 {
		t.Errorf("the first command renders %d answers", len(jobs))
	}
	p.renderAll()
	for _, b := range p.blocks {
		if !b.exact {
			t.Fatal("not everything has been rendered")
		}
	}
}

// What is undone is seen below the head, dim and behind a line that says so.
func TestWhatIsAheadOfTheHead(t *testing.T) {
	p := lecture(t, 3)
	p.v.Ahead, p.v.Turns = p.v.Turns[4:], p.v.Turns[:4:4]
	p.look()
	p.sees("2 turns ahead, undone")
	p.sees("· question 2")
	p.Preview(chat.View{Turns: p.v.Turns[:2:2]})
	p.seesNot("answer 1")
	p.Preview(p.v)
	p.sees("answer 1")
}
