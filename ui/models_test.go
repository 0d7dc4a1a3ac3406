package ui

import (
	"context"
	"testing"
)

func TestModels(t *testing.T) {
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{talk()}}, Settings{}, 80, 24)
	b.typeText("/models")
	b.press("enter")
	b.sees("the model cannot be changed here")
	b.press("esc")
	opened := ""
	b.m.options.Reopen = func(path string) { opened = path }
	b.m.options.Models = func(context.Context) ([]ModelFile, error) {
		return []ModelFile{
			{Name: "small", About: "RWKV-7 · 3.2 M", Current: true},
			{Path: "/models/cut.pth", Name: "cut", Problem: "it ends too early"},
			{Path: "/models/large.pth", Name: "large", About: "RWKV-7 · 1527.4 M"},
		}, nil
	}
	b.typeText("/models")
	b.press("enter")
	b.sees("* small")
	b.sees("cannot be run: it ends too early")
	b.press("down", "enter")
	b.sees("/models/cut.pth: it ends too early")
	b.press("esc", "alt+shift+m", "enter")
	b.sees("small runs already")
	b.typeText("/models huge")
	b.press("enter")
	b.sees(`there is no model "huge" and no such file`)
	b.press("esc")
	b.typeText("/models cut")
	b.press("enter")
	b.sees("/models/cut.pth: it ends too early")
	b.press("esc")
	if b.typeText("/models large"); opened != "" || b.m.leaving {
		t.Errorf("opened %q, leaving %v", opened, b.m.leaving)
	}
	b.press("enter")
	if opened != "/models/large.pth" || !b.m.leaving {
		t.Errorf("opened %q, leaving %v", opened, b.m.leaving)
	}
}
