package transcript

import (
	"fmt"
	"strings"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

func (b *block) footLines(th theme.Theme, width int, spin, foldKey string) []string {
	switch {
	case b.live != nil:
		return []string{th.Muted.Render(kit.Fit(liveLine(b.live, spin), width))}
	case b.turn.Role == turn.RoleAssistant:
		return []string{kit.Fit(b.endLine(th), width)}
	case b.longPrompt() && b.folded:
		line := fmt.Sprintf("… %s in %s lines", kit.FormatSize(int64(len(b.answer))), kit.FormatCount(strings.Count(b.answer, "\n")+1))
		if foldKey != "" {
			line += " · " + foldKey + " shows all"
		}
		return []string{th.Muted.Render(kit.Fit(line, width))}
	}
	return nil
}

// liveLine says where a running answer is.
func liveLine(live *chat.Live, spin string) string {
	p := live.Progress
	if p.Generated == 0 {
		if p.ToRead <= 0 {
			return spin + " waiting"
		}
		if live.Swapped != "" {
			return fmt.Sprintf("%s another model than %s runs now: reading again, %s of %s tokens (%d %%)",
				spin, live.Swapped, kit.FormatCount(p.Read), kit.FormatCount(p.ToRead), 100*p.Read/p.ToRead)
		}
		if live.Replaced != "" {
			return fmt.Sprintf("%s %s is not there: reading again with %s, %s of %s tokens (%d %%)",
				spin, live.Replaced, AdapterOf(live), kit.FormatCount(p.Read), kit.FormatCount(p.ToRead), 100*p.Read/p.ToRead)
		}
		return fmt.Sprintf("%s reading %s of %s tokens (%d %%)", spin, kit.FormatCount(p.Read), kit.FormatCount(p.ToRead), 100*p.Read/p.ToRead)
	}
	return fmt.Sprintf("%s %s tok/s · %s tokens", spin, kit.FormatRate(p.Rate), kit.FormatCount(p.Generated))
}

// AdapterOf is what an answer is made with.
func AdapterOf(live *chat.Live) string {
	if live.Turn.Adapter == "" {
		return "no adapter"
	}
	return live.Turn.Adapter
}

// endLine says how an answer ended, its price, and the mix it was drawn from.
func (b *block) endLine(th theme.Theme) string {
	var parts []string
	if rate := b.turn.Usage.Rate(); rate > 0 {
		parts = append(parts, kit.FormatRate(rate)+" tok/s")
	}
	if n := b.turn.Usage.Generated; n > 0 {
		parts = append(parts, kit.FormatCount(n)+" tokens")
	}
	line := th.Muted.Render(strings.Join(parts, " · "))
	var state string
	style := th.Warning
	switch {
	case b.turn.Reason == infer.ReasonError:
		state, style = "failed", th.Error
	case b.turn.Reason == infer.ReasonLength:
		state = "reached its longest length"
	case b.turn.Open:
		state = "stopped, can be continued"
	}
	if state != "" {
		if len(parts) > 0 {
			line += th.Muted.Render(" · ")
		}
		line += style.Render(state)
	}
	if mix := kit.AboutMix(b.turn); mix != "" {
		line += th.Muted.Render(" · " + mix)
	}
	return line
}
