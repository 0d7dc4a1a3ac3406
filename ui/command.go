package ui

import (
	"errors"
	"fmt"

	"rookery/chat/prompt"
	"rookery/infer"
	"rookery/ui/compare"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// errNoCommand says that an action does not concern a dialogue alone.
var errNoCommand = errors.New("this command does not work here")

// command runs an action that concerns one dialogue and needs no screen; both
// interfaces use it. own are the presets of the person. said is what to tell the person, if
// anything.
func command(d dialogue, model *infer.Model, own []prompt.Preset, id keys.ID, arg string) (said string, err error) {
	switch id {
	case keys.Best:
		n, err := kit.ParseNumber(arg, compare.DefaultBest)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d answers to the prompt", n), d.Best(n)
	}
	return "", errNoCommand
}
