package compare

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat/compare"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A winTable shows how often each variant was preferred.
type winTable struct {
	votes         []turn.Vote
	table         compare.WinTable
	loading       bool
	failed        string
	said          string // of an export
	selected, top int
	width, height int
}

// showVotes opens the win table, or votes on the answers that wait.
func showVotes(h kit.Host, arg string) tea.Cmd {
	if t := h.Tab(); arg != "" {
		said, err := Vote(t.Dialogue(), t.View().Alternatives, arg)
		return kit.Report(h, said, err)
	}
	w := &winTable{loading: true}
	h.OpenDialog(w)
	ctx, from := h.Context(), h.Workspace()
	return kit.Await(func() ([]turn.Vote, error) { return from.Votes(ctx) }, func(_ kit.Host, votes []turn.Vote, err error) tea.Cmd {
		w.loading, w.votes, w.table = false, votes, compare.CountWins(votes)
		if err != nil {
			w.failed = kit.OneLine(err.Error())
		}
		return nil
	})
}

// askFile asks where the votes are written to.
func (w *winTable) askFile(ext string) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.OpenDialog(kit.NewQuestion(h.Theme(), "Export the votes", "A new file; what people wrote is not in it.", "write", "votes"+ext, false, func(h kit.Host, path string) tea.Cmd {
			h.CloseDialog()
			if path = strings.TrimSpace(path); path == "" {
				return nil
			}
			return w.export(path, ext)
		}))
		return nil
	}
}

// export writes the votes to a new file and says so in the table.
func (w *winTable) export(path, ext string) tea.Cmd {
	votes := w.votes
	return kit.Await(func() (string, error) {
		return FormatVoteCount(len(votes)) + " exported to " + path, WriteVotes(path, ext, votes)
	}, func(_ kit.Host, said string, err error) tea.Cmd {
		if w.said = said; err != nil {
			w.said = "✗ " + kit.OneLine(err.Error())
		}
		return nil
	})
}

// FormatVoteCount writes a number of votes: 3 votes.
func FormatVoteCount(n int) string {
	if n == 1 {
		return "1 vote"
	}
	return kit.FormatCount(n) + " votes"
}

// WriteVotes makes a new file of votes, as CSV if ext is .csv or else as JSONL;
// it never replaces one. It blocks.
func WriteVotes(path, ext string, votes []turn.Vote) error {
	return transfer.WriteFile(kit.ExpandHome(path), func(f io.Writer) error {
		if ext == ".csv" {
			return compare.WriteVotesCSV(f, votes)
		}
		return compare.WriteVotesJSONL(f, votes)
	})
}

func (w *winTable) Press(id keys.ID, _ string) kit.Action {
	w.said = ""
	switch id {
	case keys.ListCancel, keys.ListAccept:
		return kit.Close
	case keys.VotesCSV, keys.VotesJSONL:
		if len(w.votes) == 0 {
			return nil
		}
		ext := ".csv"
		if id == keys.VotesJSONL {
			ext = ".jsonl"
		}
		return w.askFile(ext)
	case keys.ListUp:
		w.move(-1)
	case keys.ListDown:
		w.move(1)
	case keys.ListPageUp:
		w.move(-w.rows())
	case keys.ListPageDown:
		w.move(w.rows())
	}
	return nil
}

func (w *winTable) move(by int) {
	w.selected = max(0, min(w.selected+by, len(w.table.Standings)-1))
	w.top = max(min(w.top, w.selected), w.selected-w.rows()+1)
}

func (w *winTable) Wheel(by, _, _ int) kit.Action {
	w.move(by)
	return nil
}

func (w *winTable) Click(_, y int) kit.Action {
	if i := w.top + y - 2; y >= 2 && i < len(w.table.Standings) {
		w.selected = i
	}
	return nil
}

func (w *winTable) Resize(width, height int) {
	w.width, w.height = width, height
	w.move(0)
}

// rows is how many variants are seen at once.
func (w *winTable) rows() int { return max(1, min(20, w.height-9)) }

func (w *winTable) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(setupWidth, w.width)
	content := w.content(th, inner)
	hints := kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), "close", m.Hint(keys.List, keys.VotesCSV), "CSV", m.Hint(keys.List, keys.VotesJSONL), "JSONL")
	return kit.Frame(th, FormatVoteCount(w.table.Votes), content, hints, inner, w.width, w.height)
}

func (w *winTable) content(th theme.Theme, width int) []string {
	switch {
	case w.failed != "":
		return kit.Wrap("✗ "+w.failed, width)
	case w.loading:
		return []string{th.Muted.Render("Reading the votes.")}
	case len(w.table.Standings) == 0:
		return kit.Wrap("Nobody has voted yet. Compare answers, then vote for the best one, or for none.", width)
	}
	lines := []string{th.Muted.Render(kit.Pad(standingLine(" variant", "won", "tied", "lost", "rate", width), width))}
	for i := w.top; i < min(len(w.table.Standings), w.top+w.rows()); i++ {
		s := &w.table.Standings[i]
		line := standingLine(" "+s.Variant.Title(), kit.FormatCount(s.Wins), kit.FormatCount(s.Ties), kit.FormatCount(s.Losses), interval(s.Rate), width)
		if i == w.selected {
			line = kit.PointAt(th, line, width)
		}
		lines = append(lines, line)
	}
	if below := len(w.table.Standings) - w.top - w.rows(); below > 0 {
		lines = append(lines, th.Muted.Render("  "+kit.FormatCount(below)+" more "+th.Glyphs.Down))
	}
	if w.said != "" {
		return append(append(lines, ""), kit.Wrap(w.said, width)...)
	}
	about := w.table.Standings[w.selected].Variant.Title() + ". The rate is its share of the votes in percent, with the 95% interval."
	lines = append(lines, "")
	for _, l := range kit.Wrap(about, width) {
		lines = append(lines, th.Muted.Render(l))
	}
	return lines
}

// standingLine is a line of the table.
func standingLine(variant, won, tied, lost, rate string, width int) string {
	figures := fmt.Sprintf("%4s %4s %4s  %-13s", won, tied, lost, rate)
	return kit.Spread(kit.Fit(variant, max(1, width-ansi.StringWidth(figures)-1)), figures, width)
}

// interval writes a share with its bounds in percent: "62% (41–79)".
func interval(i compare.Interval) string {
	return fmt.Sprintf("%.0f%% (%.0f–%.0f)", 100*i.Estimate, 100*i.Low, 100*i.High)
}

// SayVotes reads the win table out.
func SayVotes(votes []turn.Vote, say func(string)) {
	table := compare.CountWins(votes)
	if len(table.Standings) == 0 {
		say("There are no votes yet.")
	}
	for _, s := range table.Standings {
		say(fmt.Sprintf("%s: %d won, %d tied, %d lost; rate %.0f percent, between %.0f and %.0f.", s.Variant.Title(), s.Wins, s.Ties, s.Losses,
			100*s.Rate.Estimate, 100*s.Rate.Low, 100*s.Rate.High))
	}
}
