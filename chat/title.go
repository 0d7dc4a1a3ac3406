package chat

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// titleCells is how wide a title made from a prompt may be, in terminal cells.
const titleCells = 40

// titleFrom makes a title from the first prompt: its first words on one line.
func titleFrom(text string) string {
	const enough = 8 * titleCells // bytes, so that a pasted book costs nothing
	if len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "")
	}
	text = ansi.Strip(strings.Join(strings.Fields(text), " "))
	if ansi.StringWidth(text) <= titleCells {
		return text
	}
	cut := ansi.Truncate(text, titleCells-1, "")
	if rest := text[len(cut):]; !strings.HasPrefix(rest, " ") {
		if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
			cut = cut[:space]
		}
	}
	return strings.TrimRight(cut, " ") + "…"
}
