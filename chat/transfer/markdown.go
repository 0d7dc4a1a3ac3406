package transfer

import (
	"fmt"
	"strings"

	"rookery/chat/prompt"
	"rookery/chat/turn"
)

// renderMarkdown writes a conversation for people: a heading for each turn, thoughts
// folded, and the text itself as it is, so that code stays code.
func renderMarkdown(c turn.Conversation, line []turn.Turn) string {
	var b strings.Builder
	title := prompt.JoinLines(c.Title)
	if title == "" {
		title = "Untitled conversation"
	}
	fmt.Fprintf(&b, "# %s\n", title)
	if c.System != "" {
		b.WriteString("\n> **System**\n>\n")
		for _, l := range strings.Split(strings.TrimSpace(prompt.NormalizeLines(c.System)), "\n") {
			b.WriteString(strings.TrimRight("> "+l, " ") + "\n")
		}
	}
	for _, t := range line {
		writeMarkdownTurn(&b, t)
	}
	return b.String()
}

func writeMarkdownTurn(b *strings.Builder, t turn.Turn) {
	date := t.Created.UTC().Format("2006-01-02 15:04 MST")
	if t.Role == turn.RoleUser {
		fmt.Fprintf(b, "\n## User\n\n*%s*\n", date)
		writeBlock(b, t.Text)
		return
	}
	fmt.Fprintf(b, "\n## Assistant\n\n*%s, %s*\n", prompt.JoinLines(t.ModelName), date)
	thought, answer, open := prompt.SplitThought(t.Text)
	if thought != "" {
		b.WriteString("\n<details><summary>Thought</summary>\n")
		writeBlock(b, thought)
		b.WriteString("\n</details>\n")
	}
	writeBlock(b, answer)
	if t.Open || open {
		b.WriteString("\n*(interrupted)*\n")
	}
}

// writeBlock writes a turn's text as blocks of its own.
func writeBlock(b *strings.Builder, text string) {
	text = strings.Trim(prompt.NormalizeLines(text), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fmt.Fprintf(b, "\n%s\n", text)
	if fence := prompt.OpenFence(text); fence != "" {
		b.WriteString(fence + "\n")
	}
}
