// Package transcript shows the messages of a conversation: folded, scrolled,
// selected, searched and copied. A frame costs what is on the screen and what was
// added to the running answer, however long the conversation is.
package transcript
