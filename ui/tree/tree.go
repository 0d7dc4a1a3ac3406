package tree

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// Feature is what is done with the tree of a conversation.
func Feature() kit.Feature {
	return kit.Feature{
		Actions: map[keys.ID]func(kit.Host, string) tea.Cmd{
			keys.Scrub: openTimeline, keys.Fork: fork, keys.ForkMany: askForks,
			keys.EditAnswer: editAnswer, keys.Label: askLabel, keys.Tokens: openTokens,
		},
		Commands: map[keys.ID]func(kit.Call) (string, error){
			keys.Stop: stop, keys.Continue: goOn, keys.Retry: retry, keys.Reread: reread,
			keys.Undo: undo, keys.Redo: redo, keys.Scrub: goToTurn,
			keys.PrevSibling: switchVersion(-1), keys.NextSibling: switchVersion(1),
			keys.EditAnswer: rewrite, keys.Label: label, keys.PinTurn: pin,
		},
		Then: map[keys.ID]func(kit.Tab){
			keys.Continue: kit.Tab.ScrollToEnd, keys.Retry: kit.Tab.ScrollToEnd, keys.Reread: kit.Tab.ScrollToEnd,
			keys.Undo: kit.Tab.ScrollToHead, keys.Redo: kit.Tab.ScrollToHead, keys.Scrub: kit.Tab.ScrollToHead,
		},
	}
}

// ErrNoTurns says that nothing was said yet.
var ErrNoTurns = errors.New("there are no turns yet")

func stop(c kit.Call) (string, error) {
	if c.Dialogue.View().Live == nil {
		return "no answer is running", nil
	}
	c.Dialogue.Stop()
	return "", nil
}

func goOn(c kit.Call) (string, error)  { return "", c.Dialogue.ContinueTurn(c.Selected) }
func retry(c kit.Call) (string, error) { return "", c.Dialogue.RetryTurn(c.Selected) }

func reread(c kit.Call) (string, error) {
	return "what is missing is read with what is in use now", c.Dialogue.Reread()
}

func undo(c kit.Call) (string, error) { return moveHead(c.Dialogue, (*chat.Dialogue).Undo) }
func redo(c kit.Call) (string, error) { return moveHead(c.Dialogue, (*chat.Dialogue).Redo) }

// moveHead moves the head by an exchange and says how many turns that were.
func moveHead(d *chat.Dialogue, move func(*chat.Dialogue) error) (said string, err error) {
	before := len(d.View().Turns)
	if err := move(d); err != nil {
		return "", err
	}
	switch n := len(d.View().Turns) - before; {
	case n < 0:
		return fmt.Sprintf("took back %s; nothing is lost", countTurns(-n)), nil
	case n > 0:
		return fmt.Sprintf("brought back %s", countTurns(n)), nil
	}
	return "", nil // it happens when the stopped answer has ended
}

func countTurns(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return kit.FormatCount(n) + " turns"
}

// lineOf is the whole visible line: the turns up to the head and those ahead.
func lineOf(v chat.View) []turn.Turn { return slices.Concat(v.Turns, v.Ahead) }

// goToTurn makes the n-th turn of the line the head; 0 is its beginning.
func goToTurn(c kit.Call) (said string, err error) {
	line := lineOf(c.Dialogue.View())
	if len(line) == 0 {
		return "", ErrNoTurns
	}
	if c.Arg == "" {
		return "", fmt.Errorf("write the number of a turn: 0 for the beginning, or up to %d", len(line))
	}
	n, err := strconv.Atoi(c.Arg)
	if err != nil || n < 0 || n > len(line) {
		return "", fmt.Errorf("there is no turn %q: write 0 for the beginning, or up to %d", c.Arg, len(line))
	}
	to := turn.ID(0)
	if n > 0 {
		to = line[n-1].ID
	}
	return fmt.Sprintf("the conversation goes on after turn %d of %d", n, len(line)), c.Dialogue.SetHead(to)
}

// switchVersion shows another version of a turn.
func switchVersion(by int) func(kit.Call) (string, error) {
	return func(c kit.Call) (string, error) {
		id := c.Turn
		v := c.Dialogue.View()
		if v.Stepped != 0 && c.Selected == 0 {
			id = v.Stepped // the same turn's again, whatever stands below it now
		}
		id, of := findVersions(v, id)
		switch {
		case len(lineOf(v)) == 0:
			return "", ErrNoTurns
		case of.Of < 2:
			return "there is one version of this turn; retry or an edit makes another", nil
		case of.N+by < 1:
			return fmt.Sprintf("this is the first of %d versions", of.Of), nil
		case of.N+by > of.Of:
			return fmt.Sprintf("this is the last of %d versions", of.Of), nil
		}
		return "", c.Dialogue.SwitchSibling(id, by)
	}
}

// findVersions is the turn whose versions are meant, and which of them it is: the
// given one, or the nearest above it that has others, such as a prompt that was
// edited.
func findVersions(v chat.View, id turn.ID) (nearest turn.ID, of chat.Siblings) {
	for i, t := range lineOf(v) {
		if i < len(v.Siblings) && (v.Siblings[i].Of > 1 || t.ID == id && of.Of < 2) {
			nearest, of = t.ID, v.Siblings[i]
		}
		if t.ID == id {
			break
		}
	}
	return nearest, of
}
