package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/infer"
	"rookery/ui/theme"
)

const panelWidth = 42

type panelKind int

const (
	noPanel panelKind = iota
	samplingPanel
	monitorPanel
)

type sidePanel struct {
	kind panelKind
}

func (p *sidePanel) open() bool                               { return p.kind != noPanel }
func (p *sidePanel) watches() bool                            { return p.kind == monitorPanel }
func (p *sidePanel) add(infer.Stats, time.Time)               {}
func (p *sidePanel) setSize(w, h int)                         {}
func (p *sidePanel) draw(th theme.Theme, focus bool) []string { return nil }

func (m *Model) panelKey(msg tea.KeyPressMsg) (tea.Cmd, bool) { return nil, false }
func (m *Model) togglePanel(k panelKind)                      {}
func (m *Model) toggleMonitor(string) tea.Cmd                 { return nil }
func (m *Model) closePanel()                                  {}
func (m *Model) syncPanel()                                   {}
