package ui

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer/sampler"
)

// shelfDesk is a workspace with conversations of all kinds; the first one is open.
func shelfDesk() *fakeDesk {
	p := sampler.Params{Temperature: 1, TopP: 0.3, Decay: 0.996}
	return &fakeDesk{open: []*fakeDialogue{talk()}, stored: []turn.Conversation{
		{ID: 1, Title: "Feeding the rook", Updated: now, Sampling: p},
		{ID: 2, Title: "A dog story", Updated: now.Add(-2 * time.Hour)},
		{ID: 3, Title: "Another dog", Updated: now.Add(-26 * time.Hour)},
		{ID: 4, Title: "鸦巢里的故事", Updated: now.Add(-5 * 24 * time.Hour)},
		{ID: 5, Title: "Kept for long", Updated: now.Add(-300 * 24 * time.Hour), Pinned: true},
		{ID: 6, Title: "Put aside", Updated: now.Add(-40 * 24 * time.Hour), Archived: true},
		{ID: 7, Title: "Thrown out", Updated: now.Add(-50 * 24 * time.Hour), Deleted: now.Add(-time.Hour)},
	}}
}

// inOrder fails unless the screen shows the texts, one below the other.
func (b *bench) inOrder(texts ...string) {
	b.t.Helper()
	screen, at := b.screen(), 0
	for _, text := range texts {
		i := strings.Index(screen[at:], text)
		if i < 0 {
			b.t.Fatalf("the screen does not show %q after what was before it:\n%s", text, screen)
		}
		at += i + len(text)
	}
}

// pause lets pass what it takes until the messages are searched.
func (b *bench) pause() {
	s := b.m.openConversationList()
	b.send(searchDueMsg{s.query.value(), s.serial})
}

func TestShelfGroups(t *testing.T) {
	b := newBench(t, shelfDesk(), Settings{}, 100, 40)
	b.press("ctrl+o")
	b.inOrder("Conversations (5)", "Pinned", "Kept for long", "Today", "* Feeding the rook", "A dog story", "2 h ago",
		"Yesterday", "Another dog", "Last 7 days", "鸦巢里的故事")
	b.seesNot("Put aside")
	b.seesNot("Thrown out")
	b.inOrder("f2 rename", "alt+p unpin", "alt+a archive", "ctrl+x delete", "tab archive (1)", "esc close")
	b.press("tab")
	b.inOrder("Archive (1)", "Older", "Put aside", "tab bin (1)")
	b.seesNot("A dog story")
	b.press("tab")
	b.inOrder("Bin (1)", "Thrown out", "1 h ago", "enter take back")
	b.press("tab")
	b.inOrder("Conversations (5)", "Kept for long")
}

func TestShelfPinsArchivesAndRenames(t *testing.T) {
	k := shelfDesk()
	b := newBench(t, k, Settings{}, 100, 40)
	b.press("ctrl+o")
	b.typeText("story")
	b.press("alt+p")
	if !k.stored[1].Pinned {
		t.Error("not pinned")
	}
	b.sees("pinned “A dog story”")
	b.press("alt+a")
	if !k.stored[1].Archived {
		t.Error("not archived")
	}
	b.sees("“A dog story” is in the archive")
	b.pause()
	b.sees("There is something in: archive.")
	b.press("tab", "alt+a", "tab", "tab")
	b.sees("A dog story")
	b.press("f2", "ctrl+u")
	b.typeText("Better")
	b.press("enter")
	b.sees("renamed to “Better”")
	if k.stored[1].Title != "Better" {
		t.Errorf("the title is %q", k.stored[1].Title)
	}
}

func TestShelfThrowsAwayAndTakesBack(t *testing.T) {
	k := shelfDesk()
	b := newBench(t, k, Settings{}, 100, 40)
	b.typeText("half a thought")
	b.press("ctrl+o")
	b.seesNot("undo delete")
	b.typeText("rook")
	b.press("ctrl+x") // it is open
	b.sees("“Feeding the rook” is in the bin and its tab is closed; ctrl+z undoes it")
	b.sees("ctrl+z undo delete")
	if k.stored[0].Deleted.IsZero() || len(b.m.tabs) != 1 || b.m.tab().d.ID() == 1 {
		t.Fatalf("%+v, %d tabs", k.stored[0], len(b.m.tabs))
	}
	if b.press("esc", "alt+z"); b.m.tab().d.ID() == 1 {
		t.Error("a conversation in the bin was reopened")
	}
	b.press("ctrl+o", "ctrl+z")
	b.sees("“Feeding the rook” is back")
	if !k.stored[0].Deleted.IsZero() || b.m.tab().d.ID() != 1 || b.m.tab().composer.value() != "half a thought" {
		t.Errorf("came back as %d with %q", b.m.tab().d.ID(), b.m.tab().composer.value())
	}
	b.press("ctrl+z")
	b.sees("nothing was deleted since the start")
}

func TestBin(t *testing.T) {
	k := shelfDesk()
	b := newBench(t, k, Settings{}, 100, 40)
	b.press("ctrl+o", "tab", "tab", "enter")
	b.sees("“Thrown out” is back")
	b.sees("The bin is empty.")
	b.press("tab")
	b.typeText("thrown")
	b.press("ctrl+x")
	b.pause()
	b.sees("Nothing matches. There is something in: bin.")
	b.press("tab", "tab", "ctrl+x")
	b.sees("Delete the conversation?")
	b.press("esc")
	if len(k.deleted) != 0 {
		t.Fatal("deleted although the answer was no")
	}
	b.press("ctrl+x", "enter")
	b.sees("deleted “Thrown out” for good")
	b.press("ctrl+u", "tab", "down", "ctrl+x", "ctrl+x", "tab", "tab", "alt+x")
	b.sees("2 conversations are removed for good.")
	b.press("enter")
	if b.sees("The bin is empty."); len(k.deleted) != 3 {
		t.Errorf("deleted %v", k.deleted)
	}
	b.press("tab", "ctrl+z")
	b.sees("nothing was deleted since the start")
}

func TestShelfSearchesTheMessages(t *testing.T) {
	k := shelfDesk()
	k.found = []turn.SearchHit{
		{Conversation: 4, Turn: 41, Snippet: "很久以前，有一只乌鸦住在树上。", Marks: [][2]int{{21, 27}}, When: now.Add(-time.Hour)},
		{Conversation: 2, Turn: 21, Snippet: "and the dog ran", Marks: [][2]int{{8, 11}}, When: now.Add(-3 * time.Hour)},
		{Conversation: 4, Turn: 43, Snippet: "那只乌鸦", Marks: [][2]int{{6, 12}, {2, 99}}},
		{Conversation: 7, Turn: 71, Snippet: "乌鸦 in the bin", Marks: [][2]int{{0, 6}}},
	}
	b := newBench(t, k, Settings{}, 100, 40)
	b.press("ctrl+o")
	b.typeText("乌鸦")
	b.sees("Searching the messages")
	if len(k.queries) != 0 {
		t.Errorf("searched while typing: %q", k.queries)
	}
	b.send(searchDueMsg{"乌", b.m.openConversationList().serial - 1}) // outdated by the second character
	b.pause()
	if !slices.Equal(k.queries, []string{"乌鸦"}) {
		t.Errorf("searched %q", k.queries)
	}
	b.inOrder("In the messages", "鸦巢里的故事", "有一只乌鸦住在", "那只乌鸦", "A dog story", "and the dog ran")
	b.seesNot("in the bin")
	b.press("down", "enter")
	if b.m.tab().d.ID() != 4 {
		t.Fatalf("opened %d", b.m.tab().d.ID())
	}
	b.did("show 43")
}

func TestAFoundTurnIsShownAndMarked(t *testing.T) {
	k := shelfDesk()
	d := k.open[0]
	for range 30 {
		d.say(turn.RoleUser, "More of it?")
		d.say(turn.RoleAssistant, strings.Repeat("Nothing of note happened that day. ", 10))
	}
	id := d.v.Turns[20].ID
	d.v.Turns[20].Text = "Did the magpie come?"
	k.found = []turn.SearchHit{{Conversation: 1, Turn: id, Snippet: "the magpie", Marks: [][2]int{{4, 10}}}}
	b := newBench(t, k, Settings{}, 80, 24)
	b.seesNot("magpie")
	b.press("ctrl+o")
	b.typeText("magpie")
	b.pause()
	b.press("enter")
	b.sees("Did the magpie come?")
	tr := b.m.tab().transcript
	if tr.target().turn.ID != id || len(tr.find.matches) != 1 {
		t.Errorf("turn %d is selected, %d matches", tr.target().turn.ID, len(tr.find.matches))
	}
}

func TestShelfStates(t *testing.T) {
	k := shelfDesk()
	k.fail = errors.New("the database is locked by another program")
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("ctrl+o")
	b.sees("the database is locked")
	b.press("esc")
	k.fail = nil
	b.press("ctrl+o")
	b.typeText("x")
	k.fail = errors.New("no index")
	b.pause()
	b.sees("The messages were not searched: no index")
	k.fail, k.stored = nil, nil
	b.press("esc", "ctrl+o")
	b.sees("Nothing is stored yet")
	b.press("enter", "ctrl+x", "f2", "alt+p", "alt+a", "alt+x", "up", "down", "pgdown", "pgup")
	b.sees("Nothing is stored yet")
	b.press("tab")
	b.sees("Nothing is archived.")
	b.press("esc")
	k.stored = []turn.Conversation{{ID: 6, Title: "Put aside", Updated: now, Archived: true}}
	b.press("ctrl+o")
	b.sees("All that is stored is in the archive or in the bin.")
	b.m.open(newConversationList(b.m.th, "", now))
	b.sees("Reading the conversations")
}

func TestShelfAtEverySize(t *testing.T) {
	k := shelfDesk()
	for i := range 20 {
		k.stored = append(k.stored, turn.Conversation{ID: turn.ID(100 + i), Title: strings.Repeat("long 长 ", 30), Updated: now})
	}
	k.found = []turn.SearchHit{{Conversation: 100, Turn: 5, Snippet: strings.Repeat("before ", 30) + "long 长 after", Marks: [][2]int{{210, 214}}, When: now}}
	for _, size := range [][2]int{{40, 10}, {60, 16}, {80, 24}, {200, 60}} {
		b := newBench(t, k, Settings{}, size[0], size[1])
		b.press("ctrl+o")
		b.check()
		for range 25 {
			b.press("down")
			b.check()
		}
		if s := b.m.openConversationList(); s.selected == 0 {
			t.Error("the selection did not move")
		}
		b.typeText("long")
		b.pause()
		b.check()
		for range 25 {
			b.press("pgdown")
		}
		b.check()
		if b.sees("long 长 after"); b.m.openConversationList().selected != len(b.m.openConversationList().rows)-1 {
			t.Error("the last row is not selected")
		}
		b.press("pgup", "tab", "tab")
		b.check()
	}
}

func TestShelfWithTheMouse(t *testing.T) {
	b := newBench(t, shelfDesk(), Settings{Mouse: true}, 80, 24)
	b.press("ctrl+o")
	b.send(tea.MouseClickMsg{X: 20, Y: rowOf(t, b, "Yesterday"), Button: tea.MouseLeft})
	b.sees("Conversations (5)")
	b.send(tea.MouseClickMsg{X: 20, Y: rowOf(t, b, "Another dog"), Button: tea.MouseLeft})
	if b.m.tab().d.ID() != 3 {
		t.Errorf("a click opened %d", b.m.tab().d.ID())
	}
}

func TestConversationActionsOfTheTab(t *testing.T) {
	k := shelfDesk()
	b := newBench(t, k, Settings{}, 80, 24)
	run := func(command string) {
		b.typeText(command)
		b.press("enter")
	}
	run("/pin")
	run("/archive")
	if c := k.stored[0]; !c.Pinned || !c.Archived {
		t.Errorf("%+v", c)
	}
	run("/archive")
	b.sees("is in the list again")
	run("/delete")
	b.sees("/undelete undoes it")
	run("/pin")
	b.sees("nothing is stored of this conversation yet")
	b.press("esc")
	b.m.tab().composer.clear()
	run("/undelete")
	if b.m.tab().d.ID() != 1 || !k.stored[0].Deleted.IsZero() {
		t.Errorf("tab %d, %+v", b.m.tab().d.ID(), k.stored[0])
	}
}

func TestExportAndImportOfTrees(t *testing.T) {
	t.Chdir(t.TempDir())
	k := shelfDesk()
	b := newBench(t, k, Settings{}, 100, 40)
	run := func(command string) {
		b.typeText(command)
		b.press("enter")
	}
	run("/export states")
	b.sees("exported to feeding-the-rook.rookery")
	if data, err := os.ReadFile("feeding-the-rook.rookery"); err != nil || string(data) != "bundle of 1, states true" {
		t.Errorf("%q, %v", data, err)
	}
	run("/export tree all.json")
	if data, err := os.ReadFile("all.json"); err != nil || string(data) != "tree of 1, states false" {
		t.Errorf("%q, %v", data, err)
	}
	k.fail = errors.New("disk full")
	run("/export bundle")
	b.sees("feeding-the-rook.rookery is there already")
	run("/export x.rookery")
	b.sees("disk full")
	if _, err := os.Stat("x.rookery"); err == nil {
		t.Error("half a bundle was left")
	}
	b.press("esc", "ctrl+u")
	k.fail = nil
	k.arrivals = []transfer.Result{{ID: 4, Outcome: transfer.OutcomeNew}}
	run("/import all.json")
	b.sees("1 imported")
	if b.m.tab().d.ID() != 4 || !slices.Equal(k.imports, []int64{23}) {
		t.Errorf("tab %d, imported %v", b.m.tab().d.ID(), k.imports)
	}
	k.arrivals = []transfer.Result{{ID: 2, Outcome: transfer.OutcomeCopy}, {ID: 3, Outcome: transfer.OutcomePresent}, {Outcome: transfer.OutcomeRefused, Note: "it begins with an answer"}}
	run("/import")
	b.typeText("*.json")
	b.press("enter")
	b.sees("1 imported as another version, 1 there already, 1 left out: it begins with an answer")
	run("/import nothing")
	b.sees("importing nothing: open nothing: no such file")
}
