package plain

import (
	"errors"
	"strings"
	"testing"

	"rookery/infer/gauge"
	"rookery/infer/sampler"
	"rookery/ui/panel"
	"rookery/ui/uitest"
)

func TestSaysCandidates(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, uitest.New(t, uitest.Options{}), Options{})
		k.talk("hello")
		k.talk("/sampling")
		k.hears("Preset chat: temp 1, top_p 0.3, presence 0.5, ", "The next token would be chosen from:\n1: ", " percent by the model, ")
	})
}

func TestSavesPresets(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		var saved []string
		k := begin(t, uitest.New(t, uitest.Options{}), Options{SaveSampling: func(name string, p sampler.Params) error {
			saved = append(saved, name)
			if name == "wrong" {
				return errors.New("the file is read-only")
			}
			return nil
		}})
		k.talk("/save-preset", "/save-preset mine", "/save-preset wrong", "/preset", "/save-default")
		k.hears("Error: write /save-preset and a name", "saved as preset mine.\n", "Error: the file is read-only", "mine: ", "new conversations begin with these parameters.\n")
		if got := strings.Join(saved, "|"); got != "mine|wrong|" || len(k.presets) != 1 {
			t.Errorf("saved %q, %d presets", got, len(k.presets))
		}
	})
}

func TestSaysSurroundings(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		k := begin(t, uitest.New(t, uitest.Options{}), Options{Surroundings: func() panel.Surroundings {
			return panel.Surroundings{
				Adapters: 1 << 20, OtherModels: 9e6, MemoryBudget: 1 << 30, Disk: 5 << 20,
				GPUs: []gauge.Reading{{Name: "Card", Load: 0.5, MemoryUsed: 1 << 30, MemoryTotal: 2 << 30, Power: 70, Temperature: 40}},
			}
		}})
		k.talk("/monitor")
		k.hears("Adapters: 1.0 MB.\n", "Other models: 9.0 MB.\n", "On disk: 5.2 MB.\n", "Card: load 50 percent, 1.1 GB of 2.1 GB of memory, 70 watts, 40 degrees.\n")
	})
}
