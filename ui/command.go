package ui

import (
	"errors"
	"fmt"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
)

// errNoCommand says that an action does not concern a dialogue alone.
var errNoCommand = errors.New("this command does not work here")

// command runs an action that concerns one dialogue and needs no screen; both
// interfaces use it. own are the presets of the person. turn is what version commands are about. said is what to
// tell the person, if anything.
func command(d dialogue, model *infer.Model, own []prompt.Preset, id keys.ID, arg string, turnID turn.ID) (said string, err error) {
	switch id {
	case keys.Stop:
		d.Stop()
		return "", nil
	case keys.Continue:
		return "", d.Continue()
	case keys.Retry:
		return "", d.Retry()
	case keys.Reread:
		return "what is missing is read with what is in use now", d.Reread()
	case keys.PrevSibling:
		return "", d.SwitchSibling(versioned(d.View(), turnID), -1)
	case keys.NextSibling:
		return "", d.SwitchSibling(versioned(d.View(), turnID), 1)
	case keys.Undo, keys.Redo:
		return move(d, id)
	case keys.Scrub:
		return goToTurn(d, arg)
	case keys.EditAnswer:
		return "", editAnswer(d, turnID, arg)
	case keys.Best:
		n, err := number(arg, defaultBest)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d answers to the prompt", n), d.Best(n)
	case keys.Label:
		return labelled(arg), d.SetLabel(turnID, arg)
	case keys.PinTurn:
		return pinTurn(d, turnID)
	}
	return "", errNoCommand
}

// versioned is the turn whose versions are meant: the given one, or the nearest
// above it that has others, such as a prompt that was edited.
func versioned(v chat.View, id turn.ID) turn.ID {
	nearest := id
	for i, t := range v.Turns {
		if i < len(v.Siblings) && v.Siblings[i].Of > 1 {
			nearest = t.ID
		}
		if t.ID == id {
			break
		}
	}
	return nearest
}
