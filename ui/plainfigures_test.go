package ui

import (
	"os"
	"strings"
	"testing"

	meter "rookery/infer/gauge"
)

// Votes, candidates and the monitor's figures are spoken.
func TestPlainFigures(t *testing.T) {
	t.Chdir(t.TempDir())
	got := converse(t, 0, "/votes 1", "/sampling", "/compare presets hello", "/votes 99", "/votes x", "/votes 2", "/votes 1", "hello", "/votes", "/votes v.csv", "/votes v.csv", "/monitor")
	for _, want := range []string{
		"Error: 0 answers wait for a vote", "There is no token to look at yet.",
		", the first after ", ", perplexity ", "/votes and a number says which is best",
		" answers wait for a vote", "Error: write /votes and the number", "You prefer ", "Error: these answers have their vote",
		": 1 won, 0 tied, 0 lost", "1 vote exported to v.csv.", "Error: v.csv is there already",
		"Backend: scripted", "Since the start: ", " generated.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if data, err := os.ReadFile("v.csv"); err != nil || strings.Count(string(data), "\n") < 2 {
		t.Errorf("%v: %q", err, data)
	}
}

func TestSpokenCandidates(t *testing.T) {
	k := compareDesks()
	var out strings.Builder
	p := &plain{ctx: t.Context(), workspace: k, model: modelOf(k), out: &out, d: k.open[0]}
	if err := p.command("sampling", ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Preset chat: temp 1, top_p 0.3.", "The next token would be chosen from:\n1: ", " percent by the model, ", "\n8: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestSpokenAround(t *testing.T) {
	got := strings.Join(spokenAround(Surroundings{
		Adapters: 1 << 20, Guests: 9e6, WarmBudget: 1 << 30, Disk: 5 << 20,
		GPUs: []meter.Reading{{Name: "Card", Load: 0.5, MemoryUsed: 1 << 30, MemoryTotal: 2 << 30, Power: 70, Temperature: 40}},
	}), "\n")
	for _, want := range []string{"Adapters: 1.0 MB.", "Other models: 9.0 MB.", "On disk: 5.2 MB.", "Card: load 50 percent, 1.1 GB of 2.1 GB of memory, 70 watts, 40 degrees."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
