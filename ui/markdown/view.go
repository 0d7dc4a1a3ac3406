package markdown

// Len is the number of lines.
func (s *Stream) Len() int { return len(s.lines) + len(s.tail) + len(s.backlog.lines) }

// Line is the line at i, with escape sequences for its styles and without
// trailing blanks.
func (s *Stream) Line(i int) string {
	if i < len(s.lines) {
		return s.lines[i]
	}
	i -= len(s.lines)
	if i < len(s.tail) {
		return s.tail[i]
	}
	return s.backlog.lines[i-len(s.tail)]
}

// Lines are the lines from a up to but not including b, as far as they exist.
// The slice is the caller's to read until the next change of the stream.
func (s *Stream) Lines(a, b int) []string {
	a, b = max(a, 0), min(b, s.Len())
	if a >= b {
		return nil
	}
	if b <= len(s.lines) {
		return s.lines[a:b:b]
	}
	out := make([]string, 0, b-a)
	for i := a; i < b; i++ {
		out = append(out, s.Line(i))
	}
	return out
}

// CodeBlocks are the code blocks so far, the open one included.
func (s *Stream) CodeBlocks() []CodeBlock {
	out := append([]CodeBlock(nil), s.blocks...)
	for _, b := range s.tailBlocks {
		b.FirstLine += len(s.lines)
		b.LastLine += len(s.lines)
		out = append(out, b)
	}
	if s.fence != nil {
		if b, ok := s.fence.block(s); ok {
			out = append(out, b)
		}
	}
	return out
}
