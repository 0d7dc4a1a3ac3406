package composer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/kit"
	"rookery/untrusted"
)

// openEditor writes the prompt to a file and opens it in an external editor.
func (c *Composer) openEditor(kit.Host) tea.Cmd {
	text := c.expand(c.Value())
	return kit.Await(func() (string, error) { return writeTemporary(text) }, c.runEditor)
}

// writeTemporary writes a text to a new file, which the caller removes.
func writeTemporary(text string) (path string, err error) {
	f, err := os.CreateTemp("", "rookery-*.md")
	if err != nil {
		return "", fmt.Errorf("making a file for the editor: %w", err)
	}
	_, err = f.WriteString(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("writing the prompt to %s: %w", f.Name(), err), os.Remove(f.Name()))
	}
	return f.Name(), err
}

// runEditor hands the terminal to the editor.
func (c *Composer) runEditor(h kit.Host, path string, err error) tea.Cmd {
	if err != nil {
		return h.Fail(err)
	}
	words := editorCommand()
	cmd := exec.CommandContext(h.Context(), words[0], append(words[1:], path)...)
	return tea.ExecProcess(cmd, func(ran error) tea.Msg {
		text, err := readEdited(words[0], path, ran)
		return kit.Action(func(h kit.Host) tea.Cmd { return c.endEditor(h, text, err) })
	})
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

// maxEdited bounds the text that an editor leaves, in bytes.
const maxEdited = 16 << 20

// readEdited reads what the editor has left, and removes the file. ran is how
// the editor ended.
func readEdited(editor, path string, ran error) (string, error) {
	data, err := untrusted.Read(context.Background(), path, maxEdited)
	if ran != nil {
		err = fmt.Errorf("running %s: %w; set $EDITOR to another one", editor, ran)
	}
	return strings.TrimRight(string(data), "\n"), errors.Join(err, os.Remove(path))
}

// endEditor puts the text that the editor has left in the place of the prompt.
func (c *Composer) endEditor(h kit.Host, text string, err error) tea.Cmd {
	if err != nil {
		return h.Fail(err)
	}
	c.Fill(strings.ToValidUTF8(kit.NormalizeLineEnds(text), "\uFFFD"))
	return nil
}
