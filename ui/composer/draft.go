package composer

import "rookery/chat/turn"

// Draft is what was written and not sent, as it is kept over a restart. A prompt
// that was only recalled from the history is none.
func (c *Composer) Draft() turn.Draft {
	if c.recalled > 0 {
		return turn.Draft{Text: c.draft}
	}
	d := turn.Draft{Text: c.expand(c.Value())}
	if c.edited != nil {
		d.Editing, d.Turn, d.Answer = true, c.edited.Turn, c.edited.Answer
	}
	return d
}

// Restore takes up a draft.
func (c *Composer) Restore(d turn.Draft) {
	if d.Editing {
		c.BeginEdit(Edited{Turn: d.Turn, Answer: d.Answer}, d.Text)
	} else {
		c.Fill(d.Text)
	}
	c.ForgetChanges()
}
