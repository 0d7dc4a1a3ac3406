package transcript

import (
	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// Actions are what a person can do with the messages in view, with the argument
// of a slash command.
func Actions() map[keys.ID]func(t *Transcript, h kit.Host, arg string) tea.Cmd {
	do := func(change func(t *Transcript)) func(*Transcript, kit.Host, string) tea.Cmd {
		return func(t *Transcript, _ kit.Host, _ string) tea.Cmd {
			change(t)
			return nil
		}
	}
	return map[keys.ID]func(*Transcript, kit.Host, string) tea.Cmd{
		keys.SelectPrev:  do(func(t *Transcript) { t.selectBy(-1) }),
		keys.SelectNext:  do(func(t *Transcript) { t.selectBy(1) }),
		keys.ScrollUp:    do(func(t *Transcript) { t.ScrollBy(-1) }),
		keys.ScrollDown:  do(func(t *Transcript) { t.ScrollBy(1) }),
		keys.PageUp:      do(func(t *Transcript) { t.ScrollBy(-t.page()) }),
		keys.PageDown:    do(func(t *Transcript) { t.ScrollBy(t.page()) }),
		keys.Top:         do(func(t *Transcript) { t.scrollTo(0) }),
		keys.Bottom:      do((*Transcript).ScrollToEnd),
		keys.SearchNext:  do(func(t *Transcript) { t.nextMatch(1) }),
		keys.SearchPrev:  do(func(t *Transcript) { t.nextMatch(-1) }),
		keys.Search:      (*Transcript).openSearch,
		keys.Fold:        (*Transcript).foldOrSay,
		keys.CopyMessage: (*Transcript).copyMessage,
		keys.CopyCode:    (*Transcript).copyCode,
	}
}

// page is how far a page key scrolls: two lines stay in view.
func (t *Transcript) page() int { return max(1, t.height-2) }

func (t *Transcript) foldOrSay(h kit.Host, _ string) tea.Cmd {
	if !t.fold() {
		return h.Say("there is nothing to fold: only thoughts and long prompts are")
	}
	return nil
}

// openSearch opens the line for a search, with the last one or an argument.
func (t *Transcript) openSearch(h kit.Host, query string) tea.Cmd {
	if query == "" {
		query = t.find.query
	}
	h.OpenDialog(newSearchBar(h.Theme(), query, t))
	t.search(query)
	return nil
}
