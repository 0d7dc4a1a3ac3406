package panel

import (
	"strings"
	"testing"
)

// Every key that the help names is one that its panel has use for.
func TestHelpNamesKeysThatAreTaken(t *testing.T) {
	panels := map[string]func() Panel{
		"Sampling": func() Panel { return testSampling(t) },
		"Mixer":    func() Panel { return testMixer(t) },
		"Adapters": func() Panel { return testAdapters(t) },
		"Monitor":  func() Panel { return testMonitor(t, 20) },
	}
	for _, s := range Help {
		open := panels[s.Title]
		if s.Title == "Heat strip" { // which is no panel
			continue
		}
		if open == nil {
			t.Fatalf("there is no panel %q", s.Title)
		}
		if title := open().Title(); title != s.Title {
			t.Errorf("the panel %q is %q in the help", title, s.Title)
		}
		for _, k := range s.Keys {
			for name := range strings.SplitSeq(k[0], "  ") {
				if first, _, several := strings.Cut(name, "-"); several && first != "" {
					name = first
				}
				if !takes(open(), name) {
					t.Errorf("%s has no use for %s: %s", s.Title, name, k[1])
				}
			}
		}
		delete(panels, s.Title)
	}
	for title := range panels {
		t.Errorf("the help has no keys of the panel %s", title)
	}
}

// takes says that a panel has use for a key, in some row.
func takes(p Panel, name string) bool {
	const rows = 10
	for range rows {
		if _, taken := p.HandleKey(key(name)); taken {
			return true
		}
		p.HandleKey(key("down"))
	}
	return false
}
