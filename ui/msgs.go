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

// settingsMsg brings a changed configuration.
type settingsMsg Settings

// noticeMsg is the result of something that ran in a command.
type noticeMsg struct {
	text string
	err  error
}

// noticeEndedMsg takes a notice away if it is still the same one.
type noticeEndedMsg struct{ serial int }
