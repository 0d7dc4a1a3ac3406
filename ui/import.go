package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// importFiles stores the conversations of files. It asks for them when none
// are given.
func (m *Model) importFiles(arg string) tea.Cmd {
	if arg == "" {
		about := "A bundle, a JSON export, or a ShareGPT or OpenAI file; * stands for any characters."
		m.OpenDialog(kit.NewQuestion(m.th, "Import conversations", about, "import", "", false, func(h kit.Host, text string) tea.Cmd {
			if strings.TrimSpace(text) == "" {
				return kit.Close(h)
			}
			return kit.Run(keys.Import, strings.TrimSpace(text))(h)
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
func bringIn(ctx context.Context, k workspace, pattern string) ([]chat.ImportResult, error) {
	pattern, err := fromHome(pattern)
	if err != nil {
		return nil, fmt.Errorf("importing: %w", err)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		paths = []string{pattern}
	}
	var all []chat.ImportResult
	for _, path := range paths {
		arrivals, err := bringInFile(ctx, k, path)
		if err != nil {
			return nil, fmt.Errorf("importing %s: %w", path, err)
		}
		all = append(all, arrivals...)
	}
	return all, nil
}

func bringInFile(ctx context.Context, k workspace, path string) ([]chat.ImportResult, error) {
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
func arrived(arrivals []chat.ImportResult) string {
	n := map[chat.ImportOutcome]int{}
	note := ""
	for _, a := range arrivals {
		n[a.Fate]++
		if a.Fate == chat.FateRefused && note == "" {
			note = ": " + a.Note
		}
	}
	var parts []string
	for _, p := range []struct {
		fate chat.ImportOutcome
		text string
	}{
		{chat.FateNew, " imported"},
		{chat.FateCopy, " imported as another version"},
		{chat.FatePresent, " there already"},
		{chat.FateRefused, " left out" + note},
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
