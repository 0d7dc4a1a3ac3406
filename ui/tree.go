package ui

import (
	"context"
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

// A treeDialogue is the part of a dialogue that is about its tree. Candidates
// blocks and is called in commands only.
type treeDialogue interface {
	Undo() error
	Redo() error
	SetHead(id turn.ID) error
	EditTurn(id turn.ID, text string) error
	EditAnswer(id turn.ID, text string, goOn bool) error
	Branch(id turn.ID, index int, token int32) error
	Best(n int) error
	ChooseAlternatives(keep []turn.ID, drop bool) error
	SetLabel(id turn.ID, label string) error
	SetPinned(id turn.ID, pinned bool) error
	Tokens(id turn.ID) ([]string, error)
	Candidates(ctx context.Context, id turn.ID, index, k int) ([]chat.Candidate, error)
}

func (opening) Undo() error                              { return errOpening }
func (opening) Redo() error                              { return errOpening }
func (opening) SetHead(turn.ID) error                    { return errOpening }
func (opening) EditTurn(turn.ID, string) error           { return errOpening }
func (opening) EditAnswer(turn.ID, string, bool) error   { return errOpening }
func (opening) Branch(turn.ID, int, int32) error         { return errOpening }
func (opening) Best(int) error                           { return errOpening }
func (opening) ChooseAlternatives([]turn.ID, bool) error { return errOpening }
func (opening) SetLabel(turn.ID, string) error           { return errOpening }
func (opening) SetPinned(turn.ID, bool) error            { return errOpening }
func (opening) Tokens(turn.ID) ([]string, error)         { return nil, errOpening }
func (opening) Candidates(context.Context, turn.ID, int, int) ([]chat.Candidate, error) {
	return nil, errOpening
}

// treeTable says what the actions on the tree of a conversation do.
func (m *Model) treeTable() map[keys.ID]func(string) tea.Cmd {
	return map[keys.ID]func(string) tea.Cmd{
		keys.Undo:       func(string) tea.Cmd { return m.moveHead(keys.Undo) },
		keys.Redo:       func(string) tea.Cmd { return m.moveHead(keys.Redo) },
		keys.Scrub:      m.scrub,
		keys.EditAnswer: m.editAnswer,
		keys.Fork:       m.fork,
		keys.ForkMany:   m.askForks,
		keys.Tokens:     m.lookAtTokens,
		keys.Label:      m.label,
		keys.PinTurn:    func(string) tea.Cmd { return m.command(keys.PinTurn, "") },
		keys.Suspend:    func(string) tea.Cmd { return tea.Suspend },
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
	return kit.FormatCount(n) + " turns"
}

// goToTurn makes the n-th turn of the line the head; 0 is its beginning.
func goToTurn(d dialogue, arg string) (said string, err error) {
	v := d.View()
	line := slices.Concat(v.Turns, v.Ahead)
	if len(line) == 0 {
		return "", errNoTurns
	}
	if arg == "" {
		return "", fmt.Errorf("write the number of a turn: 0 for the beginning, or up to %d", len(line))
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 || n > len(line) {
		return "", fmt.Errorf("there is no turn %q: write 0 for the beginning, or up to %d", arg, len(line))
	}
	to := turn.ID(0)
	if n > 0 {
		to = line[n-1].ID
	}
	return fmt.Sprintf("the conversation goes on after turn %d of %d", n, len(line)), d.SetHead(to)
}

// number reads the argument of a command.
func number(arg string, otherwise int) (int, error) {
	if arg == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", arg)
	}
	return n, nil
}

// marked is the turn that an action on one is about: the selected one, or the last.
func (t *tab) marked() (turn.Turn, bool) {
	line := slices.Concat(t.view.Turns, t.view.Ahead)
	if at := t.transcript.selected; at >= 0 && at < len(t.transcript.blocks) {
		id := t.transcript.blocks[at].turn.ID
		if i := slices.IndexFunc(line, func(tn turn.Turn) bool { return tn.ID == id }); i >= 0 {
			return line[i], true
		}
	}
	if n := len(t.view.Turns); n > 0 {
		return t.view.Turns[n-1], true
	}
	return turn.Turn{}, false
}

// label names a turn, or asks for its name.
func (m *Model) label(arg string) tea.Cmd {
	if arg != "" {
		return m.command(keys.Label, arg)
	}
	t, ok := m.tab().marked()
	if !ok {
		return m.fail(errNoTurns)
	}
	about := "A name for this turn; its state is kept. An empty name takes it away."
	m.OpenDialog(kit.NewQuestion(m.th, "Name the turn", about, "name", t.Label, false, func(h kit.Host, text string) tea.Cmd {
		return setLabel{t.ID, text}.do(h)
	}))
	return nil
}

// setLabel names a turn.
type setLabel struct {
	turn turn.ID
	text string
}

func (i setLabel) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	err := m.tab().d.SetLabel(i.turn, i.text)
	return tea.Batch(m.report(labelled(i.text), err), m.look())
}

func labelled(text string) string {
	if kit.OneLine(text) == "" {
		return "the turn has no name any more"
	}
	return "the turn is called “" + kit.OneLine(text) + "”, and its state is kept"
}

// pinTurn pins a turn or lets it go.
func pinTurn(d dialogue, id turn.ID) (said string, err error) {
	v := d.View()
	for _, t := range slices.Concat(v.Turns, v.Ahead) {
		if t.ID != id {
			continue
		}
		if t.Pinned {
			return "the state of the turn may be thinned out again", d.SetPinned(id, false)
		}
		return "the state of the turn is kept", d.SetPinned(id, true)
	}
	return "", errNoTurns
}
