package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A lineReader reads lines of limited length, and says whether the last one is whole.
type lineReader struct {
	r    *bufio.Reader
	most int
	n    int
}

func newLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 1<<16), most: most}
}

// readLine returns the next line with its newline. At the end of the file whole is
// false, and line holds what follows the last newline.
func (l *lineReader) readLine() (line []byte, whole bool, err error) {
	l.n++
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > l.most:
			return nil, false, fmt.Errorf("line %d is longer than %s", l.n, bytesText(int64(l.most)))
		case err == nil:
			return line, true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
