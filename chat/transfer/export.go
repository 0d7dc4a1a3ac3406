package transfer

import (
	"fmt"
	"io"

	"rookery/chat/turn"
)

// A Format is an export format.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"

	// WholeTree is JSON of all turns instead of the visible line.
	WholeTree Format = "tree"
	// Bundle is whole trees and perhaps their states in one file; see BundleWriter.
	Bundle Format = "bundle"
)

// Export writes the visible line of a conversation, or all turns that are
// given for a whole tree. It does not block on the engine.
func Export(w io.Writer, f Format, c turn.Conversation, line []turn.Turn) error {
	var err error
	switch f {
	case Markdown:
		_, err = io.WriteString(w, renderMarkdown(c, line))
	case JSON:
		err = writeLine(w, c, line)
	case WholeTree:
		err = writeTree(w, turn.Tree{Conversation: c, Turns: line})
	default:
		return fmt.Errorf("there is no export format %q: use %s, %s or %s", f, Markdown, JSON, WholeTree)
	}
	if err != nil {
		return fmt.Errorf("exporting conversation %q: %w", c.Title, err)
	}
	return nil
}
