package ui

import (
	"errors"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/ui/keys"
)

// A treeDialogue is the part of a dialogue that is about its tree.
type treeDialogue interface {
	Undo() error
	Redo() error
	GoTo(turn chat.ID) error
}

func (opening) Undo() error        { return errOpening }
func (opening) Redo() error        { return errOpening }
func (opening) GoTo(chat.ID) error { return errOpening }

// treeTable says what the actions on the tree of a conversation do.
func (m *Model) treeTable() map[keys.ID]func(string) tea.Cmd {
	return map[keys.ID]func(string) tea.Cmd{
		keys.Undo:    func(string) tea.Cmd { return m.moveHead(keys.Undo) },
		keys.Redo:    func(string) tea.Cmd { return m.moveHead(keys.Redo) },
		keys.Scrub:   m.scrub,
		keys.Suspend: func(string) tea.Cmd { return tea.Suspend },
	}
}

var errNoTurns = errors.New("there are no turns yet")

// moveHead undoes or redoes an exchange and shows where the conversation goes on.
func (m *Model) moveHead(id keys.ID) tea.Cmd {
	cmd := m.command(id, "")
	if !m.notice.failed {
		m.tab().transcript.toHead()
	}
	return cmd
}

// redoHint says how to bring back what is ahead of the head.
func (m *Model) redoHint() string {
	return m.hintFor(keys.Redo) + " brings it back · " + m.hintFor(keys.Scrub) + " goes anywhere"
}

// move undoes or redoes an exchange.
func move(d dialogue, id keys.ID) (said string, err error) {
	before := len(d.View().Turns)
	if id == keys.Undo {
		err = d.Undo()
	} else {
		err = d.Redo()
	}
	if err != nil {
		return "", err
	}
	v := d.View()
	switch n := len(v.Turns) - before; {
	case n < 0:
		return fmt.Sprintf("took back %s; nothing is lost", turnCount(-n)), nil
	case n > 0:
		return fmt.Sprintf("brought back %s", turnCount(n)), nil
	}
	return "", nil // it happens when the stopped answer has ended
}

func turnCount(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return count(n) + " turns"
}

// goToTurn makes the n-th turn of the line the head; 0 is its beginning.
func goToTurn(d dialogue, arg string) (said string, err error) {
	v := d.View()
	line := append(v.Turns[:len(v.Turns):len(v.Turns)], v.Ahead...)
	if len(line) == 0 {
		return "", errNoTurns
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 || n > len(line) {
		return "", fmt.Errorf("there is no turn %q: write 0 for the beginning, or up to %d", arg, len(line))
	}
	to := chat.ID(0)
	if n > 0 {
		to = line[n-1].ID
	}
	return fmt.Sprintf("the conversation goes on after turn %d of %d", n, len(line)), d.GoTo(to)
}
