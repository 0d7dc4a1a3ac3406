package ui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/kit"
)

// openEditor writes the prompt to a file for an external editor.
func (m *Model) openEditor(string) tea.Cmd {
	text := m.tab().composer.expand(m.tab().composer.Value())
	return func() tea.Msg {
		f, err := os.CreateTemp("", "rookery-*.md")
		if err != nil {
			return editorReadyMsg{err: fmt.Errorf("making a file for the editor: %w", err)}
		}
		_, err = f.WriteString(text)
		if closing := f.Close(); err == nil {
			err = closing
		}
		if err != nil {
			err = errors.Join(fmt.Errorf("writing the prompt to %s: %w", f.Name(), err), os.Remove(f.Name()))
		}
		return editorReadyMsg{f.Name(), err}
	}
}

// onEditorReady hands the terminal to the editor.
func (m *Model) onEditorReady(msg editorReadyMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	words := editorCommand()
	cmd := exec.CommandContext(m.ctx, words[0], append(words[1:], msg.path)...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return readEdited(words[0], msg.path, err) })
}

// editorCommand is what $VISUAL or $EDITOR say, with their arguments.
func editorCommand() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(os.Getenv(name)); len(words) > 0 {
			return words
		}
	}
	return []string{"vi"}
}

// readEdited takes over what the editor has left, and removes the file.
func readEdited(editor, path string, ran error) tea.Msg {
	data, err := os.ReadFile(path)
	if ran != nil {
		err = fmt.Errorf("running %s: %w; set $EDITOR to another one", editor, ran)
	}
	return editorClosedMsg{strings.TrimRight(string(data), "\n"), errors.Join(err, os.Remove(path))}
}

func (m *Model) onEditorClosed(msg editorClosedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	editing, edits := m.tab().composer.editing, m.tab().composer.edits
	m.tab().composer.fill(strings.ToValidUTF8(kit.NormalizeLineEnds(msg.text), "\uFFFD"))
	m.tab().composer.editing, m.tab().composer.edits = editing, edits
	m.edited()
	return nil
}
