package ui

// frameMsg says that something on the workspace has changed and that it is time to look.
type frameMsg struct{}

// tickMsg drives what moves without text arriving: spinners and rates.
type tickMsg struct{}

// restoredMsg brings the conversations of the last time.
type restoredMsg struct {
	open   []dialogue
	active int
	err    error
}

// historyMsg brings the prompts of the past, oldest first.
type historyMsg struct {
	prompts []string
	err     error
}

// renderedMsg brings finished messages as they are to be drawn.
type renderedMsg struct {
	tab        *tab
	generation int
	lines      map[*block][]string
}

// settingsMsg brings a changed configuration.
type settingsMsg Settings

// noticeMsg is the result of something that ran in a command.
type noticeMsg struct {
	text string
	err  error
}

// noticeEndedMsg takes a notice away if it is still the same one.
type noticeEndedMsg struct{ serial int }

// editorReadyMsg names the file in which an external editor is to be opened.
type editorReadyMsg struct {
	path string
	err  error
}

// editorClosedMsg brings the text that an external editor has left.
type editorClosedMsg struct {
	text string
	err  error
}
