package e2e

import (
	"slices"
	"strings"
	"testing"

	"rookery/chat/turn"
)

// The keys of the tree in the prompt that other tests do not press, and what is stored
// afterwards.
func TestTreeKeysInThePrompt(t *testing.T) {
	x := open(t, 100, 30, t.TempDir(), "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.keys("F6") // continue
	x.see("16 tokens")
	x.ended(1)
	x.keys("M-c")
	x.see("24 tokens")
	x.ended(1)
	x.keys("M-r") // retry
	x.see("version 2 of 2", "8 tokens")
	x.ended(1)
	x.keys("M-,")
	x.see("version 1 of 2", "24 tokens")
	x.keys("M-.")
	x.see("version 2 of 2", "8 tokens")
	x.keys("M-e") // edit the last prompt
	x.see("editing the last prompt")
	x.keys("C-u")
	x.typed("Tell me a joke.")
	x.keys("Enter")
	x.see("Tell me a joke.", "version 2 of 2")
	x.ended(1)
	x.keys("M-E", "C-u") // edit the answer, and go on at its cursor
	x.typed("A rook walks into a bar")
	x.keys("F6")
	x.see("A rook walks into a bar", "edited")
	x.ended(1)
	x.typed("/goto 1")
	x.keys("Enter")
	x.see("1 turn ahead")
	x.typed("/goto 2")
	x.keys("Enter")
	x.gone("ahead, undone")
	x.keys("F7")
	x.see("Stop 2 of 2")
	x.keys("Left")
	x.see("Stop 1 of 2")
	x.keys("Enter")
	x.see("1 turn ahead")
	x.keys("C-y")
	x.gone("ahead, undone")

	talks := x.quit()
	if len(talks) != 1 {
		t.Fatalf("%d conversations are stored", len(talks))
	}
	talk := talks[0]
	if got := talk.prompts(); !slices.Equal(got, []string{"Tell me a joke."}) || talk.Head != talk.Tip {
		t.Errorf("the line is %q, head %d, tip %d", got, talk.Head, talk.Tip)
	}
	answers := 0
	for _, tn := range talk.turns {
		if tn.Role == turn.RoleAssistant {
			answers++
		}
	}
	if tip := talk.tip(); !tip.Edited || !strings.HasPrefix(tip.Text, "A rook walks into a bar") || len(talk.turns) != 6 || answers != 4 {
		t.Errorf("%d turns, the last one is %+v", len(talk.turns), tip)
	}
}

// The keys of the tree among the messages, where they are letters.
func TestTreeKeysAmongMessages(t *testing.T) {
	x := open(t, 100, 30, t.TempDir(), "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.say("And then?", 2)
	x.keys("Tab")
	x.keys("u")
	x.see("2 turns ahead, undone")
	x.keys("U")
	x.gone("ahead, undone")
	x.keys("c") // continue
	x.see("16 tokens")
	x.keys("r") // retry
	x.see("version 2 of 2")
	x.keys("[")
	x.see("version 1 of 2", "16 tokens")
	x.keys("]")
	x.see("version 2 of 2")
	x.keys("l") // label
	x.see("Name the turn")
	x.typed("the end")
	x.keys("Enter")
	x.see("“the end”")
	x.keys("L") // pin
	x.see("“the end” · pinned")
	x.keys("L")
	x.gone("· pinned")
	x.keys("L")
	x.see("“the end” · pinned")
	x.keys("E") // edit the answer
	x.see("editing an answer")
	x.keys("C-u")
	x.typed("They flew home.")
	x.keys("Enter")
	x.see("They flew home.", "version 3 of 3", "edited")
	x.keys("Tab", "i") // tokens
	x.see("Token 1 of ")
	x.keys("Right")
	x.see("Token 2 of ")
	x.keys("Left")
	x.see("Token 1 of ")
	x.keys("Escape")
	x.gone("Token 1 of ")
	x.keys("f") // fork
	x.see("2 Tell me a story (2)", "a copy of the conversation up to there")
	x.keys("Tab", "F")
	x.see("Fork into how many tabs?")
	x.keys("C-u")
	x.typed("3")
	x.keys("Enter")
	x.see("3 copies of the conversation up to there", "5 ")
	x.keys("Tab", "R") // best of four
	x.see("Best of 4", "4  ")
	x.until("showing four answers", func(screen string) bool { return strings.Count(screen, "8 tokens · open") == 4 })
	x.keys("Right", "Space")
	x.see("2* ")
	x.keys("Enter")
	x.gone("Best of 4")

	talks := x.quit()
	if len(talks) != 5 {
		t.Fatalf("%d conversations are stored", len(talks))
	}
	labelled, best := 0, 0
	for _, talk := range talks {
		if got := talk.prompts(); !slices.Equal(got, []string{"Tell me a story.", "And then?"}) {
			t.Errorf("the line of %q is %q", talk.Title, got)
		}
		switch talk.versions(talk.tip()) {
		case 1:
			if tip := talk.tip(); tip.Text != "They flew home." || !tip.Edited || len(talk.turns) != 4 {
				t.Errorf("the fork %q has %d turns and ends with %+v", talk.Title, len(talk.turns), tip)
			}
		case 5: // the edited one and the four beside it
			best++
		case 3:
			for _, tn := range talk.turns {
				if tn.Label == "the end" && tn.Pinned {
					labelled++
				}
			}
		}
	}
	if labelled != 1 || best != 1 {
		t.Errorf("%d labelled turns in the first conversation, %d conversations with five answers", labelled, best)
	}
}

// Choosing from several answers: one, several, none, all and the list of what
// is stored then.
func TestBestOfKeys(t *testing.T) {
	x := open(t, 120, 40, t.TempDir(), "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	grown := func(n int) {
		t.Helper()
		x.until("showing ended answers", func(screen string) bool { return strings.Count(screen, "8 tokens · open") == n })
	}
	x.typed("/best 3")
	x.keys("Enter")
	x.see("there is no turn to go on from")
	x.keys("Escape")
	x.gone("esc dismisses")
	x.keys("C-u")
	x.typed("Tell me a story.")
	x.keys("M-R")
	grown(4)
	x.keys("4", "Enter") // one; the others are versions
	x.see("version 4 of 4")
	x.typed("/best 3")
	x.keys("Enter")
	grown(3)
	x.keys("1", "3", "C-x") // two, and only these beside the four
	x.see("of 6")
	x.typed("/best 2")
	x.keys("Enter")
	grown(2)
	x.keys("Down", "Up", "Right", "Left", "Escape") // all stay
	x.see("of 8")
	talks := x.quit()
	if len(talks) != 1 || talks[0].versions(talks[0].tip()) != 8 || len(talks[0].turns) != 9 {
		t.Fatalf("stored: %d conversations, %+v", len(talks), talks)
	}
	seeds := map[uint64]bool{}
	for _, tn := range talks[0].turns[1:] {
		seeds[tn.Sampling.Seed] = true
	}
	if len(seeds) != 8 {
		t.Errorf("the answers have the seeds %v", seeds)
	}
}
