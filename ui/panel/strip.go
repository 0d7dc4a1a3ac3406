package panel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/infer"
	"rookery/ui/theme"
)

// A field is one figure of the strip: what it is, itself, its unit. The short
// form is for when the line gets too long.
type field struct {
	label, value, unit string
	short              string
}

// Strip is the monitor in one line of exactly width cells: speeds, rows, step
// times and memory. What does not fit is shortened and then left out from the
// end, so that the speed of decoding is there to the last.
func Strip(s infer.Stats, width int, th theme.Theme) string {
	fields := stripFields(s)
	separator := " · "
	if !th.Glyphs.Braille {
		separator = ", "
	}
	long := len(fields)
	for stripWidth(fields, long, separator) > width {
		switch {
		case long > 0:
			long--
		case len(fields) > 1:
			fields = fields[:len(fields)-1]
		default:
			return fit(fields[0].short, width, th.Glyphs.Ellipsis)
		}
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		if i < long {
			parts[i] = th.Muted.Render(f.label) + " " + f.value
			if f.unit != "" {
				parts[i] += " " + th.Muted.Render(f.unit)
			}
		} else {
			parts[i] = f.short
		}
	}
	return fit(strings.Join(parts, th.Muted.Render(separator)), max(0, width), th.Glyphs.Ellipsis)
}

func stripFields(s infer.Stats) []field {
	fields := []field{{"decode", rate(s.DecodeRate), "tok/s", rate(s.DecodeRate) + " tok/s"}}
	if s.PrefillRate > 0 {
		fields = append(fields, field{"prefill", rate(s.PrefillRate), "tok/s", rate(s.PrefillRate) + " read/s"})
	}
	rows := field{"rows", strconv.Itoa(s.RowsInStep), "of " + strconv.Itoa(s.Slots), fmt.Sprintf("%d/%d rows", s.RowsInStep, s.Slots)}
	if s.Waiting > 0 {
		rows.unit += fmt.Sprintf(", %d waiting", s.Waiting)
		rows.short += "+" + strconv.Itoa(s.Waiting)
	}
	fields = append(fields, rows)
	if s.StepP50 > 0 {
		times := millis(s.StepP50) + "/" + millis(s.StepP95)
		fields = append(fields, field{"step p50/p95", times, "ms", times + " ms"})
	}
	return append(fields, memoryFields(s)...)
}

// memoryFields are the memory by tier: where the weights and the states are,
// and what the snapshots take of the host.
func memoryFields(s infer.Stats) []field {
	var fields []field
	for _, m := range []struct {
		label, short string
		n            int64
	}{{"weights", "w", s.Memory.Weights}, {"states", "s", s.Memory.States}, {"snapshots", "snap", s.SnapshotBytes}} {
		if m.n > 0 {
			fields = append(fields, field{m.label, size(m.n), "", m.short + " " + size(m.n)})
		}
	}
	return fields
}

// stripWidth is the width of the fields, the first long of them in full.
func stripWidth(fields []field, long int, separator string) int {
	w := 0
	for i, f := range fields {
		if i > 0 {
			w += ansi.StringWidth(separator)
		}
		if i < long {
			w += ansi.StringWidth(strings.TrimSuffix(f.label+" "+f.value+" "+f.unit, " "))
		} else {
			w += ansi.StringWidth(f.short)
		}
	}
	return w
}
