package panel

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/kit"
)

// Every key that a panel names is one that it has use for.
func TestPanelsTakeTheKeysThatTheyName(t *testing.T) {
	type keyed interface {
		Title() string
		Keys() [][2]string
		HandleKey(k tea.KeyPressMsg) (kit.Action, bool)
	}
	for _, open := range []func() keyed{
		func() keyed { return testSampling(t) },
		func() keyed { return testMixer(t) },
		func() keyed { return testMonitor(t, 20) },
		func() keyed { return testAdapters(t) },
		func() keyed {
			s := &heat{}
			s.show(turn.Turn{ID: 1}, []infer.Token{{MemberLogprobs: []float32{-1}}})
			return s
		},
	} {
		p := open()
		if len(p.Keys()) == 0 {
			t.Errorf("%s names no keys", p.Title())
		}
		for _, k := range p.Keys() {
			for name := range strings.SplitSeq(k[0], "  ") {
				if first, _, several := strings.Cut(name, "-"); several && first != "" {
					name = first
				}
				if !takes(open(), name) {
					t.Errorf("%s has no use for %s: %s", p.Title(), name, k[1])
				}
			}
		}
	}
}

// A keyHandler is what of a panel takes keys.
type keyHandler interface {
	HandleKey(k tea.KeyPressMsg) (kit.Action, bool)
}

// takes says that a panel has use for a key, in some row.
func takes(p keyHandler, name string) bool {
	const rows = 10
	for range rows {
		if _, taken := p.HandleKey(key(name)); taken {
			return true
		}
		p.HandleKey(key("down"))
	}
	return false
}
