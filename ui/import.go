package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/transfer"
	"rookery/ui/keys"
)

// importFiles stores the conversations of files. It asks for them when none
// are given.
func (m *Model) importFiles(arg string) tea.Cmd {
	if arg == "" {
		about := "A bundle, a JSON export, or a ShareGPT or OpenAI file; * stands for any characters."
		m.open(newQuestion(m.th, "Import conversations", about, "import", "", false, func(text string) intent {
			if strings.TrimSpace(text) == "" {
				return done{}
			}
			return run{keys.Import, strings.TrimSpace(text)}
		}))
		return nil
	}
	return func() tea.Msg {
		arrivals, err := bringIn(m.ctx, m.workspace, arg)
		return importedMsg{arrivals, err}
	}
}

// onImported says what has come, and shows a conversation that came alone.
func (m *Model) onImported(msg importedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	said := m.say(arrived(msg.arrivals))
	if len(msg.arrivals) == 1 && msg.arrivals[0].ID != 0 && msg.arrivals[0].Note == "" {
		return tea.Batch(said, m.openStored(msg.arrivals[0].ID, m.active+1))
	}
	return tea.Batch(said, m.readConversationList())
}

// bringIn imports the files of a pattern, each of them whole or not at all.
// It blocks.
func bringIn(ctx context.Context, k workspace, pattern string) ([]transfer.Result, error) {
	pattern, err := fromHome(pattern)
	if err != nil {
		return nil, fmt.Errorf("importing: %w", err)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		paths = []string{pattern}
	}
	var all []transfer.Result
	for _, path := range paths {
		arrivals, err := bringInFile(ctx, k, path)
		if err != nil {
			return nil, fmt.Errorf("importing %s: %w", path, err)
		}
		all = append(all, arrivals...)
	}
	return all, nil
}

func bringInFile(ctx context.Context, k workspace, path string) ([]transfer.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	return k.Import(ctx, f, info.Size())
}

// arrived says in a line what has come.
func arrived(arrivals []transfer.Result) string {
	n := map[transfer.Outcome]int{}
	note := ""
	for _, a := range arrivals {
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
			parts = append(parts, count(n[p.fate])+p.text)
		}
	}
	if len(parts) == 0 {
		return "there is no conversation in it"
	}
	return strings.Join(parts, ", ")
}
