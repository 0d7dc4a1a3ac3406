package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// RecentDistribution and Outlook of the fake: the token of the number of the look, or of 100
// and that of the question, is the likeliest.
func (d *fakeDialogue) RecentDistribution() *chat.Distribution {
	d.looks++
	return sureOf(int32(d.looks))
}

func (d *fakeDialogue) NextDistribution(context.Context) (*chat.Distribution, error) {
	d.ahead++
	return sureOf(int32(100 + d.ahead)), d.fail
}

func sureOf(token int32) *chat.Distribution {
	m := scripted.Model()
	logits := make([]float32, m.Shape.Vocab)
	logits[token] = 12
	return chat.NewDistribution(m, &infer.Distribution{Logits: logits, Token: -1}, nil)
}

// nameOf is how the token of a number is shown.
func nameOf(token int32) string {
	return `"` + prompt.TokenText(scripted.Model().Tokenizer.Bytes(token)) + `"`
}

func TestCandidatesFollowTheConversation(t *testing.T) {
	at := now
	d := talk()
	d.v.Conversation.Head = 4
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 140, 40)
	b.m.clock = func() time.Time { return at }
	if d.looks+d.ahead > 0 {
		t.Error("a closed panel costs something")
	}
	b.press("f3")
	b.sees("next token")
	b.sees(nameOf(101))
	b.press("down")
	b.press("right")
	b.press("up")
	if d.ahead != 1 {
		t.Errorf("moving a parameter asked %d times", d.ahead)
	}
	d.v.Conversation.Head = 2
	b.send(frameMsg{})
	b.sees(nameOf(102))

	d.generate("It", infer.Progress{Generated: 1})
	b.send(frameMsg{})
	b.send(frameMsg{})
	b.sees("latest token")
	b.sees(nameOf(1))
	if d.looks != 1 {
		t.Errorf("two frames in one moment looked %d times", d.looks)
	}
	at = at.Add(lookEvery)
	b.send(frameMsg{})
	b.sees(nameOf(2))
	d.end()
	d.v.Conversation.Head = 5
	b.send(frameMsg{})
	b.sees("next token")
	b.sees(nameOf(103))

	d.fail = errors.New("it cannot be read")
	d.v.Conversation.Head = 1
	b.send(frameMsg{})
	b.seesNot("next token")
	b.press("f3")
	d.v.Conversation.Head = 3
	asked, looked := d.ahead, d.looks
	b.send(frameMsg{})
	if d.ahead != asked || d.looks != looked {
		t.Error("a closed panel costs something")
	}
}

func TestSavingPresets(t *testing.T) {
	d := talk()
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 140, 40)
	saved := map[string]sampler.Params{}
	var failed error
	b.m.saver = func(name string, p sampler.Params) error {
		if failed == nil {
			saved[name] = p
		}
		return failed
	}
	b.press("f3")
	b.press("d")
	b.sees("new conversations begin with these parameters")
	if p, ok := saved[""]; !ok || p.Temperature != 1 {
		t.Errorf("saved %+v", saved)
	}
	b.press("s")
	b.sees("Save the sampling parameters as a preset")
	b.typeText("my own")
	b.press("enter")
	b.press("s", "ctrl+u")
	b.typeText("Story")
	b.press("enter")
	b.sees("comes with the program")
	b.sees("│ Story ")
	b.press("esc")
	b.seesNot("comes with the program")
	b.do(b.m.slash("save-preset", "my own"))
	b.sees("saved as preset my own")
	b.send(settingsMsg(b.m.settings)) // the file that was written is read again
	b.sees("saved as preset my own")
	if d.v.Conversation.Preset != "my own" || saved["my own"].TopP != 0.3 {
		t.Errorf("the preset is %q, saved %+v", d.v.Conversation.Preset, saved)
	}
	b.press("alt+a")
	b.sees("my own")
	b.sees("Your own")
	b.press("esc")
	b.m.slash("save-preset", "Chat")
	b.sees("comes with the program")
	failed = errors.New("the disk is full")
	b.press("s")
	b.press("enter")
	b.sees("the disk is full")
	b.m.saver = nil
	b.m.slash("save-default", "")
	if _, ok := b.m.saveDefault("")().(noticeMsg); !ok {
		t.Error("nothing is said where there is no configuration")
	}
	if n := len(b.m.settings.Presets); n != 1 {
		t.Errorf("%d presets", n)
	}
}

func TestPanelMouse(t *testing.T) {
	d := talk()
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{Mouse: true}, 140, 40)
	b.press("f3")
	p := b.m.place.panel
	b.send(tea.MouseClickMsg{X: p.x + 2 + 30, Y: p.y + 1 + 2, Button: tea.MouseLeft})
	if len(d.calls) != 1 || !strings.HasPrefix(d.calls[0], "sampling 1 ") || d.v.Conversation.Sampling.TopP == 0.3 {
		t.Errorf("a click on the bar of top_p asks for %q", d.calls)
	}
	b.send(tea.MouseWheelMsg{X: p.x + 5, Y: p.y + 5, Button: tea.MouseWheelUp})
	b.press("right")
	if d.v.Conversation.Sampling.Temperature != 1.05 {
		t.Errorf("one row up is %+v", d.v.Conversation.Sampling)
	}
}
