package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// ended matches the footer of an ended answer; that of a running one has a spinner.
var ended = regexp.MustCompile(`(?m)^[ ·] [\d.,]+ tok/s · [\d,]+ tokens`)

// say sends a prompt and waits until the screen shows this many ended answers.
func (x *terminal) say(prompt string, answers int) {
	x.t.Helper()
	x.typed(prompt)
	x.keys("Enter")
	x.see(prompt)
	x.ended(answers)
}

// ended waits until the screen shows this many ended answers and no running one.
func (x *terminal) ended(answers int) {
	x.t.Helper()
	x.until(fmt.Sprintf("showing %d finished answers", answers), func(screen string) bool {
		return len(ended.FindAllString(screen, -1)) == answers && strings.Contains(screen, composerHint)
	})
}

// Undo, redo and the timeline, by all their keys, and after a restart.
func TestUndoRedoTimeline(t *testing.T) {
	home := t.TempDir()
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	for i, prompt := range []string{"Tell me a story.", "And then?"} {
		x.say(prompt, i+1)
	}
	x.keys("C-z")
	x.see("2 turns ahead, undone", "Tell me a story.", "And then?")
	x.keys("M-u")
	x.see("4 turns ahead, undone")
	x.keys("C-z")
	x.see("nothing to undo")
	x.keys("Escape")
	x.gone("nothing to undo")
	x.keys("C-y")
	x.see("2 turns ahead, undone")
	x.keys("M-U")
	x.gone("ahead, undone")
	x.keys("C-z")
	x.see("2 turns ahead, undone")
	x.keys("C-q")
	x.see("exit:0")

	x.start(program(t), "--seed", "1", "--max-tokens", "12")
	x.see("2 turns ahead, undone", "And then?")
	x.keys("F7")
	x.see("Stop 2 of 4", "rookery-demo", "zero state", "no adapter", "seed 1", "tok/s")
	x.keys("Right")
	x.see("Stop 3 of 4", "1 turn ahead")
	x.keys("Home")
	x.see("Stop 0 of 4", "4 turns ahead")
	x.keys("End")
	x.see("Stop 4 of 4")
	x.gone("ahead, undone")
	x.keys("Escape")
	x.see(composerHint, "2 turns ahead, undone")
	x.keys("M-g")
	x.see("Stop 2 of 4")
	x.keys("Right", "Right", "Enter")
	x.gone("Stop ")
	x.gone("ahead, undone")
	x.typed("/scrub 2")
	x.keys("Enter")
	x.see("2 turns ahead, undone")

	// A prompt that is sent from here is another version of the undone one.
	x.say("Was it big?", 2)
	x.see("version 2 of 2")
	x.gone("And then?")
	x.typed("/suspend")
	x.keys("Enter")
	x.see("topped") // as the shell says it
	x.keys("f", "g", "Enter")
	x.see(composerHint, "Was it big?")
	x.keys("C-q")
	x.gone(composerHint)
}
