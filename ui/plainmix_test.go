package ui

import (
	"strings"
	"testing"
)

func TestPlainMix(t *testing.T) {
	got := converse(t, 0, "/mix", "/mix off", "/mix nobody=1", "/mix x", "/mixes", "/save_mix", "/save_mix gloom", "/mixes gloom")
	for _, want := range []string{
		"No mix: this chat alone.\n", "state=weight", `Error: there is no state "nobody"`, `Error: mix "x": write state=weight,state=weight`,
		"No mix was saved yet.", "Error: write /save_mix and a name", "Error: there is no mix to save", `there is no saved mix "gloom": none was saved yet`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
