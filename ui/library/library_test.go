package library_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui"
	"rookery/ui/uitest"
)

func TestGroups(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 100, 40)
		s.Press("ctrl+o")
		s.Sees("Conversations (5)", "Pinned", "Kept for long", "Today", "* Feeding the rook", "A dog story", "2 h ago",
			"Yesterday", "Another dog", "Last 7 days", "鸦巢里的故事")
		s.SeesNot("Put aside")
		s.SeesNot("Thrown out")
		s.Sees("f2 rename", "alt+p unpin", "alt+a archive", "ctrl+x delete", "tab archive (1)", "esc close")
		s.Press("tab")
		s.Sees("Archive (1)", "Older", "Put aside", "tab bin (1)")
		s.SeesNot("A dog story")
		s.Press("tab")
		s.Sees("Bin (1)", "Thrown out", "1 h ago", "enter take back")
		s.Press("tab")
		s.Sees("Conversations (5)", "Kept for long")
	})
}

func TestPinArchiveAndRename(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 100, 40)
		s.Press("ctrl+o")
		s.Type("story")
		s.Press("alt+p")
		if c, _ := s.stored(2); !c.Pinned {
			t.Error("not pinned")
		}
		s.Sees("pinned “A dog story”")
		s.Press("alt+a")
		if c, _ := s.stored(2); !c.Archived {
			t.Error("not archived")
		}
		s.Sees("“A dog story” is in the archive")
		s.pause()
		s.Sees("There is something in: archive.")
		s.Press("tab", "alt+a", "tab", "tab")
		s.Sees("A dog story")
		s.Press("f2", "ctrl+u")
		s.Enter("Better")
		s.Sees("renamed to “Better”")
		if c, _ := s.stored(2); c.Title != "Better" {
			t.Errorf("the title is %q", c.Title)
		}
	})
}

func TestBinAndUndo(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 100, 40)
		s.Type("half a thought")
		s.Press("ctrl+o")
		s.SeesNot("undo delete")
		s.Type("rook")
		s.Press("ctrl+x") // it is open
		s.Await("ctrl+z undoes it")
		s.Sees("ctrl+z undo delete", "“Feeding the rook” is in the bin and its tab is closed; ctrl+z undoes it")
		s.Press("esc")
		s.Sees("1 New chat")
		s.SeesNot("How do I feed a rook?")
		if s.Press("alt+z"); strings.Contains(s.Screen(), "How do I feed") {
			t.Error("a conversation in the bin was reopened")
		}
		s.Press("ctrl+o", "ctrl+z")
		s.Await("“Feeding the rook” is back")
		s.Press("ctrl+z")
		s.Sees("nothing was deleted since the start")
		s.Press("esc", "esc")
		s.Sees("Feeding the rook", "How do I feed a rook?", "half a thought")
	})
}

func TestEmptyTheBin(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 100, 40)
		s.Press("ctrl+o", "tab", "tab", "enter")
		s.Sees("The bin is empty.", "“Thrown out” is back")
		s.Press("tab")
		s.Type("thrown")
		s.Press("ctrl+x")
		s.pause()
		s.Sees("Nothing matches. There is something in: bin.")
		s.Press("tab", "tab", "ctrl+x")
		s.Sees("Delete the conversation?")
		s.Send(tea.PasteMsg{Content: "y"}) // is no answer to a question
		s.Press("esc")
		if _, there := s.stored(7); !there {
			t.Fatal("deleted although the answer was no")
		}
		s.Press("ctrl+x", "enter")
		s.Await("deleted “Thrown out” for good")
		s.Press("ctrl+u", "tab", "down", "ctrl+x", "ctrl+x", "tab", "tab", "alt+x")
		s.Sees("2 conversations are removed for good.")
		s.Press("enter")
		s.Await("The bin is empty.")
		list, err := s.w.Store.Conversations(t.Context())
		uitest.Must(t, err)
		if len(list) != 4 {
			t.Errorf("%d conversations are left", len(list))
		}
		s.Press("tab", "ctrl+z")
		s.Sees("nothing was deleted since the start")
	})
}

func TestSearch(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 100, 40)
		s.w.Keep("Birds", "乌鸦住在树上", "还有一只乌鸦")
		s.w.Keep("Dogs", "and the dog saw a 乌鸦 run")
		bin := s.w.Keep("Gone", "乌鸦 in the bin")
		uitest.Must(t, s.w.Workspace.MoveToBin(t.Context(), bin))
		s.Press("ctrl+o")
		s.Type("乌鸦")
		s.Sees("Searching the messages")
		if len(s.store.queries) != 0 {
			t.Errorf("searched while typing: %q", s.store.queries)
		}
		s.pause()
		if len(s.store.queries) != 1 || s.store.queries[0] != "乌鸦" {
			t.Errorf("searched %q", s.store.queries)
		}
		s.Sees("In the messages")
		s.Sees("Birds", "乌鸦住在树上")
		s.Sees("还有一只乌鸦")
		s.Sees("Dogs", "and the dog saw")
		s.SeesNot("in the bin")
		s.Press("ctrl+u")
		s.Send(tea.PasteMsg{Content: "dog"}) // is searched for as what is typed
		s.pause()
		if q := s.store.queries; q[len(q)-1] != "dog" {
			t.Errorf("searched %q", q)
		}
	})
}

func TestAFoundTurnIsShownAndMarked(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 80, 24)
		prompts := []string{"Did the magpie come?"}
		for range 20 {
			prompts = append(prompts, "More of it?")
		}
		s.w.Keep("Long", prompts...)
		s.Press("ctrl+o")
		s.Type("magpie")
		s.pause()
		s.Press("enter")
		s.Await("Did the magpie come?")
		s.Sees("2 Long")
		s.Sees("next, previous match")
	})
}

func TestTroubleAndNothing(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 80, 24)
		s.store.fail = errors.New("the database is locked by another program")
		s.Press("ctrl+o")
		s.Sees("the database is locked")
		s.Press("esc")
		s.store.fail = nil
		s.Press("ctrl+o")
		s.Type("x")
		s.store.fail = errors.New("no index")
		s.pause()
		s.Sees("The messages were not searched:", "no index")
	})
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{})
		term := uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace}), 80, 24)
		term.Press("ctrl+o")
		term.Sees("Nothing is stored yet")
		term.Press("enter", "ctrl+x", "f2", "alt+p", "alt+a", "alt+x", "up", "down", "pgdown", "pgup")
		term.Sees("Nothing is stored yet")
		term.Press("tab")
		term.Sees("Nothing is archived.")
	})
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{Stored: []turn.Conversation{{ID: 6, Title: "Put aside", Archived: true}}})
		term := uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace}), 80, 24)
		term.Press("ctrl+o")
		term.Sees("All that is stored is in the archive or in the bin.")
	})
}

func TestEverySize(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {60, 16}, {80, 24}, {200, 60}} {
		uitest.Run(t, func(t *testing.T) {
			var long []turn.Conversation
			for i := range 20 {
				long = append(long, turn.Conversation{ID: turn.ID(100 + i), Title: strings.Repeat("long 长 ", 30), Updated: time.Now()})
			}
			s := open(t, size[0], size[1], long...)
			s.w.Keep("Found", strings.Repeat("before ", 30)+"long 长 after")
			s.Press("ctrl+o")
			s.Check()
			for range 25 {
				s.Press("down")
				s.Check()
			}
			s.Type("long")
			s.pause()
			s.Check()
			for range 25 {
				s.Press("pgdown")
			}
			s.Check()
			s.Sees("long 长 after")
			s.Press("pgup", "tab", "tab")
			s.Check()
		})
	}
}

func TestOpenAndMouse(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 80, 24)
		s.Press("ctrl+o")
		s.Type("dogst")
		s.Press("enter")
		s.Sees("1 Feeding the rook", "2 A dog story")
		s.Press("ctrl+o")
		s.Type("rook")
		s.Press("enter")
		s.Sees("How do I feed a rook?") // in its tab
		s.SeesNot("│ 3")
		s.Enter("/open dog")
		s.Sees("A dog story")
		s.SeesNot("* Feeding the rook")
		s.Press("ctrl+u")
		s.Send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		s.Send(tea.MouseClickMsg{X: 20, Y: s.Row("Another dog"), Button: tea.MouseLeft})
		s.Sees("Another dog")
		s.Press("ctrl+o")
		s.Sees("Conversations (")
		s.Send(tea.MouseClickMsg{X: 0, Y: 23, Button: tea.MouseLeft})
		s.SeesNot("Conversations (")
	})
}

func TestRenameATab(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 80, 24)
		s.Press("f2", "ctrl+u")
		s.Enter("A better name")
		s.Sees("1 A better name")
		s.Enter("/rename Best")
		s.Sees("1 Best")
		s.Press("f2", "ctrl+u", "enter")
		s.Sees("a title needs at least one character")
	})
}

func TestPinAndDeleteOfATab(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 80, 24)
		s.Enter("/pin")
		s.Sees("pinned “Feeding the rook”")
		s.Enter("/archive")
		s.Sees("“Feeding the rook” is in the archive")
		s.Enter("/delete")
		s.Await("undoes it")
		s.Sees("1 New chat", "is in the bin and its tab is closed; /undelete undoes it")
		s.Enter("/pin")
		s.Sees("nothing is stored of this conversation yet")
		s.Press("esc")
		s.Enter("/undelete")
		s.Await("is back")
		s.Sees("Feeding the rook", "“Feeding the rook” is back")
	})
}

func TestExportAndImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.md")
	bundle := filepath.Join(t.TempDir(), "rook.rookery")
	uitest.Run(t, func(t *testing.T) {
		s := open(t, 120, 24)
		s.Enter("/export " + path)
		s.Sees("exported to")
		s.Enter("/export " + path)
		s.Sees("exists: choose another name")
		s.Press("esc", "alt+x")
		s.Sees("feeding-the-rook.md")
		s.Press("ctrl+u")
		s.Enter(bundle)
		s.Sees("exported to ")
		s.Enter("/import " + bundle)
		s.Sees("1 there already")
		s.Enter("/import /nowhere/at/all")
		s.Sees("✗ importing /nowhere/at/all")
	})
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), "How do I feed a rook?") {
		t.Errorf("exported %q, %v", data, err)
	}
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{})
		term := uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace}), 120, 24)
		term.Enter("/export x")
		term.Sees("✗ there is nothing to export yet")
		term.Press("esc", "ctrl+u")
		term.Enter("/import " + bundle)
		term.Sees("2 Feeding the rook", "1 imported")
	})
}

// Forks that nothing was done with are one row, with what they are copies of.
func TestCopiesFold(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		young := time.Now().Add(11 * time.Hour)
		more := []turn.Conversation{
			{ID: 200, Title: "Orphan (2)", CopyOf: 99, Updated: young},
			{ID: 201, Title: "Orphan (3)", CopyOf: 99, Updated: young.Add(-time.Minute)},
		}
		for i := range turn.ID(31) {
			more = append(more, turn.Conversation{ID: 300 + i, Title: fmt.Sprintf("A dog story (%d)", i+2), CopyOf: 2, Updated: young})
		}
		s := open(t, 100, 50, more...)
		s.Press("ctrl+o")
		s.Sees("Orphan (2) · 1 copy", "A dog story · 31 copies")
		s.SeesNot("A dog story (5)")
		s.SeesNot("Orphan (3)")
		s.Press("down", "down", "alt+f")
		s.Sees("Orphan (3)")
		s.SeesNot("A dog story (5)")
		s.Press("alt+f")
		s.SeesNot("Orphan (3)")
		s.Type("story (5)")
		s.Sees("A dog story (5)") // a search finds every copy
	})
}
