package panel

import (
	"fmt"

	"rookery/infer"
	"rookery/infer/gauge"
)

// Surroundings are what a Monitor shows and the engine does not know. What is
// zero is not shown.
type Surroundings struct {
	Adapters               int64 // bytes of loaded adapters, beside the weights
	OtherModels            int64 // of the other models of a comparison, all that they take
	InMemory, MemoryBudget int64 // of snapshots kept in memory
	Unsaved                int64 // of Warm, what waits to be saved
	Disk                   int64 // of the database and its log
	GPUs                   []gauge.Reading
}

// SetSurroundings tells the monitor what is around the engine now.
func (m *Monitor) SetSurroundings(s Surroundings) {
	m.surroundings = s
	m.drawn = nil
}

// A purpose is what memory is used for.
type purpose struct {
	name string
	n    int64
}

// purposes divide the memory. The states of the slot pool are divided by what
// the slots hold.
func (m *Monitor) purposes(now *sample) []purpose {
	s := now.stats
	all := []purpose{{"weights", s.Memory.Weights}, {"adapters", m.surroundings.Adapters}}
	all = append(all, m.statePurposes(s)...)
	return append(all,
		purpose{"scratch", s.Memory.Scratch},
		purpose{"2nd models", m.surroundings.OtherModels},
		purpose{"snapshots", s.SnapshotBytes},
		purpose{"Go heap", max(0, now.heap-s.SnapshotBytes)}) // where snapshots are
}

// statePurposes divides by what a slot takes: an equal part, or the bytes of a
// state where slots take memory only once they are used. Then an equal part is
// far less than a state, even than one in half its width.
func (m *Monitor) statePurposes(s infer.Stats) []purpose {
	k, all := s.Kinds, s.Memory.States
	slots := int64(k.Running + k.Resident + k.Free)
	if slots == 0 {
		return []purpose{{"states", all}}
	}
	of := func(n int) int64 {
		if all/slots < m.state/2 {
			return int64(n) * m.state
		}
		return all * int64(n) / slots
	}
	running := min(all, of(k.Running))
	resident := min(all-running, of(k.Resident))
	return []purpose{{"states", running}, {"resident", resident}, {"free slots", all - running - resident}}
}

// storeLines are the memory's tier of snapshots and the database.
func (m *Monitor) storeLines(width int) []string {
	var lines []string
	line := func(name, value string) {
		lines = append(lines, spread(m.th.Muted.Render(name), value, width, m.th.Glyphs.Ellipsis))
	}
	a := m.surroundings
	if a.MemoryBudget > 0 {
		value := size(a.InMemory) + " of " + size(a.MemoryBudget)
		if a.Unsaved > 0 {
			value = size(a.Unsaved) + " unsaved, " + value
		}
		line("in memory", value)
	}
	if a.Disk > 0 {
		line("on disk", size(a.Disk))
	}
	return lines
}

// slotLines are the slots by what they hold.
func (m *Monitor) slotLines(now *sample, width int) []string {
	k := now.stats.Kinds
	if k == (infer.SlotKinds{}) {
		return nil
	}
	text := fmt.Sprintf("%d running, %d resident, %d free", k.Running, k.Resident, k.Free)
	return []string{spread(m.th.Title.Render("slots"), text, width, m.th.Glyphs.Ellipsis)}
}

// mostGPUs are shown one by one.
const mostGPUs = 8

// gpuLines are the GPUs: how busy, full, thirsty and hot.
func (m *Monitor) gpuLines(width int) []string {
	var lines []string
	for i, g := range m.surroundings.GPUs[:min(len(m.surroundings.GPUs), mostGPUs)] {
		name := clean(g.Name)
		if name == "" {
			name = "GPU"
		}
		if len(m.surroundings.GPUs) > 1 {
			name = fmt.Sprintf("%d %s", i, name)
		}
		lines = append(lines, spread(m.th.Title.Render(fit(name, min(width, 30), m.th.Glyphs.Ellipsis)), gpuClimate(g), width, m.th.Glyphs.Ellipsis))
		lines = append(lines, m.barLine("load", g.Load, percent(g.Load), width))
		if g.MemoryTotal > 0 {
			used := float64(g.MemoryUsed) / float64(g.MemoryTotal)
			lines = append(lines, m.barLine("memory", used, size(g.MemoryUsed)+" of "+size(g.MemoryTotal), width))
		}
	}
	if more := len(m.surroundings.GPUs) - mostGPUs; more > 0 {
		lines = append(lines, m.th.Muted.Render(fmt.Sprintf("and %d more", more)))
	}
	return lines
}

// gpuClimate is the power and the temperature, where they are told.
func gpuClimate(g gauge.Reading) string {
	text := ""
	switch {
	case g.Power > 0 && g.PowerLimit > 0:
		text = fmt.Sprintf("%.0f of %.0f W", g.Power, g.PowerLimit)
	case g.Power > 0:
		text = fmt.Sprintf("%.0f W", g.Power)
	}
	if g.Temperature > 0 {
		if text != "" {
			text += "  "
		}
		text += fmt.Sprintf("%d C", g.Temperature)
	}
	return text
}

// barLine is a share with its name, a bar and what it is in words.
func (m *Monitor) barLine(name string, share float64, value string, width int) string {
	const nameWidth, valueWidth = 10, 18
	line := fit(name, nameWidth, m.th.Glyphs.Ellipsis)
	if bar := width - nameWidth - valueWidth - 1; bar >= 4 && m.drawsGraphs() {
		line += m.th.Graph1.Render(m.bar(share, bar))
	}
	return spread(line, value, width, m.th.Glyphs.Ellipsis)
}
