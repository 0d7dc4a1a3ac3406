package chat

import (
	"fmt"
	"io"
)

// A Format is an export format.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// Export writes the visible line of a conversation. It does not block on the engine.
func Export(w io.Writer, f Format, c Conversation, line []Turn) error {
	var err error
	switch f {
	case Markdown:
		_, err = io.WriteString(w, markdownOf(c, line))
	case JSON:
		err = writeJSON(w, c, line)
	default:
		return fmt.Errorf("there is no export format %q: use %s or %s", f, Markdown, JSON)
	}
	if err != nil {
		return fmt.Errorf("exporting conversation %q: %w", c.Title, err)
	}
	return nil
}
