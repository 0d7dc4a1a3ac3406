package terminal

import "io"

// A Writer cleans what is written to a terminal.
type Writer struct {
	w     io.Writer
	clean Cleaner
	buf   []byte
}

// NewWriter is a Writer to a terminal. It shows signs in the place of control
// characters.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, clean: Cleaner{Show: true}} }

// Write implements io.Writer.
func (t *Writer) Write(p []byte) (int, error) {
	t.buf = t.clean.Append(t.buf[:0], string(p))
	if _, err := t.w.Write(t.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}
