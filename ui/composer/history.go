package composer

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/kit"
)

// A History is the prompts that were sent, oldest first. The composers of all
// tabs share one.
type History struct{ prompts []string }

// Load reads what was sent before the program began, which goes under what has
// been sent since.
func (y *History) Load(h kit.Host) tea.Cmd {
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() ([]string, error) { return w.History(ctx) }, func(h kit.Host, prompts []string, err error) tea.Cmd {
		y.prompts = append(prompts, y.prompts...)
		return kit.Report(h, "", err)
	})
}

// Add adds a prompt that has been sent; the workspace stores it.
func (y *History) Add(prompt string) {
	if n := len(y.prompts); n == 0 || y.prompts[n-1] != prompt {
		y.prompts = append(y.prompts, prompt)
	}
}

// goBack moves the cursor up (by 1) or down (by -1), and beyond the edge of the
// text it fetches an older or newer prompt.
func (c *Composer) goBack(by int) {
	if by > 0 && c.Up() || by < 0 && c.Down() {
		return
	}
	prompts := c.history.prompts
	to := c.recalled + by
	if to < 0 || to > len(prompts) {
		return
	}
	if c.recalled == 0 {
		c.draft = c.expand(c.Value())
	}
	if to == 0 {
		c.Fill(c.draft)
	} else {
		c.Fill(prompts[len(prompts)-to])
	}
	c.recalled = to
}

// searchHistory lists the prompts of the past, newest first, each once.
func (c *Composer) searchHistory(h kit.Host) tea.Cmd {
	const longest = 400 // bytes of a prompt that are searched
	seen := map[string]bool{}
	var entries []kit.Entry
	for _, p := range slices.Backward(c.history.prompts) {
		if !seen[p] {
			seen[p] = true
			entries = append(entries, kit.Entry{Title: kit.OneLine(strings.ToValidUTF8(p[:min(len(p), longest)], "")), Choose: kit.FillPrompt(p)})
		}
	}
	h.OpenDialog(kit.NewChooser(h.Theme(), "Prompt history", "use", "No prompt has been sent yet.", entries))
	return nil
}

// Unsent is what was written and not sent: no recalled prompt and no edit.
func (c *Composer) Unsent() string {
	if c.recalled > 0 || c.Editing() {
		return ""
	}
	return c.Text()
}
