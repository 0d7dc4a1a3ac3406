package library

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/transfer"
	"rookery/ui/kit"
	"rookery/untrusted"
)

// importFiles stores the conversations of files. It asks for them when none
// are given.
func (l *library) importFiles(h kit.Host, pattern string) tea.Cmd {
	if pattern == "" {
		about := "A bundle, a JSON export, or a ShareGPT or OpenAI file; * stands for any characters."
		return kit.AskPath(h, "Import conversations", about, "import", "", func(h kit.Host, text string) tea.Cmd {
			h.CloseDialog()
			if text = strings.TrimSpace(text); text == "" {
				return nil
			}
			return l.importFiles(h, text)
		})
	}
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() ([]transfer.Result, error) { return Import(ctx, w, pattern) }, l.imported)
}

// imported says what has come, and shows a conversation that came alone.
func (l *library) imported(h kit.Host, results []transfer.Result, err error) tea.Cmd {
	if err != nil {
		return h.Fail(err)
	}
	said := h.Say(AboutImport(results))
	if len(results) == 1 && results[0].ID != 0 && results[0].Note == "" {
		return tea.Batch(said, h.OpenStored(results[0].ID))
	}
	return tea.Batch(said, l.readList(h))
}

// Import imports the files of a pattern, each of them whole or not at all.
// It blocks.
func Import(ctx context.Context, w *chat.Workspace, pattern string) ([]transfer.Result, error) {
	pattern = kit.ExpandHome(pattern)
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		paths = []string{pattern}
	}
	var all []transfer.Result
	for _, path := range paths {
		results, err := importFile(ctx, w, path)
		if err != nil {
			return nil, fmt.Errorf("importing %s: %w", path, err)
		}
		all = append(all, results...)
	}
	return all, nil
}

func importFile(ctx context.Context, w *chat.Workspace, path string) ([]transfer.Result, error) {
	f, err := untrusted.Open(ctx, path, untrusted.Unbounded)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return w.Import(ctx, f, f.Size())
}

// AboutImport says in a line what has come.
func AboutImport(results []transfer.Result) string {
	n := map[transfer.Outcome]int{}
	note := ""
	for _, a := range results {
		n[a.Outcome]++
		if a.Outcome == transfer.OutcomeRefused && note == "" {
			note = ": " + a.Note
		}
	}
	var parts []string
	for _, p := range []struct {
		fate transfer.Outcome
		text string
	}{
		{transfer.OutcomeNew, " imported"},
		{transfer.OutcomeCopy, " imported as another version"},
		{transfer.OutcomePresent, " there already"},
		{transfer.OutcomeRefused, " left out" + note},
	} {
		if n[p.fate] > 0 {
			parts = append(parts, kit.FormatCount(n[p.fate])+p.text)
		}
	}
	if len(parts) == 0 {
		return "there is no conversation in it"
	}
	return strings.Join(parts, ", ")
}
