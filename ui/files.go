package ui

import (
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/attach"
	"rookery/ui/composer"
	"rookery/ui/kit"
)

// sendWithFiles reads the files that the prompt of a tab names, and then sends it; nil
// if it names none. The prompt stays where it is until they are read.
func (m *Model) sendWithFiles(t *tab) tea.Cmd {
	c := t.composer
	read := c.ReadFiles(m.ctx)
	if read == nil {
		return nil
	}
	changes, written := c.Changes(), c.Text()
	return kit.Await(read, func(_ kit.Host, p attach.Prompt, err error) tea.Cmd {
		switch {
		case err != nil:
			return m.fail(err)
		case t.composer != c || c.Changes() != changes:
			return m.fail(errors.New("the prompt changed while its files were read: send it again"))
		}
		_, _, text, isCommand := composer.ParseCommand(p.String())
		if isCommand { // a name was taken out of a text that is none
			text = p.String()
		}
		cmd := m.sendText(t, text, written)
		if n := len(p.Files()); n > 0 && !m.notice.failed {
			cmd = tea.Batch(cmd, m.say("sent with "+countFiles(n)))
		}
		return cmd
	})
}

func countFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
