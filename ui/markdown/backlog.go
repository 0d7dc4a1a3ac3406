package markdown

import "bytes"

// A backlog is text behind a block that is too long to be parsed with every
// piece: a monstrous table, say, or a list inside a list item. It is shown
// unformatted until the block has grown by an eighth; parsing at such
// distances costs a constant amount per byte.
type backlog struct {
	parsed int      // length of the open text when it was last parsed; 0 if it is short
	raw    int      // offset in the source of what was not parsed
	whole  int      // of lines, those that are complete
	lines  []string // the text from raw on
}

// postpone shows the open text unformatted if it is not yet time to parse it.
func (s *Stream) postpone(open []byte) bool {
	b := &s.backlog
	if b.parsed == 0 || len(open) >= b.parsed+b.parsed/8 {
		return false
	}
	b.lines = b.lines[:b.whole]
	for {
		text := s.src[b.raw:]
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			b.lines = append(b.lines, s.plainLines(text)...)
			return true
		}
		b.lines = append(b.lines, s.plainLines(text[:end])...)
		b.whole = len(b.lines)
		b.raw += end + 1
	}
}

// plainLines renders a line of source as it is.
func (s *Stream) plainLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	r := s.r
	r.out, r.frames, r.wantGap = nil, r.frames[:0], false
	r.plain(text)
	s.work += len(text) + len(r.out)
	return r.out
}
