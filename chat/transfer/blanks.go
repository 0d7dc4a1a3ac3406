package transfer

import "io"

// A squeezer leaves one blank of several between the tokens of JSON. The JSON library
// reads a run of blanks again and again while it waits for its end, so that a small
// bundle that unpacks to blanks would take minutes.
type squeezer struct {
	from                   io.Reader
	text, escaped, blanked bool // inside a string, after a backslash in it, after a blank
}

func squeeze(from io.Reader) io.Reader { return &squeezer{from: from} }

// Read reads at least a byte that is left, or to the end.
func (s *squeezer) Read(p []byte) (int, error) {
	for {
		n, err := s.from.Read(p)
		if n = s.leave(p[:n]); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// leave moves what is left to the front and returns its length.
func (s *squeezer) leave(p []byte) int {
	n := 0
	for _, c := range p {
		blank := !s.text && (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		if blank && s.blanked {
			continue
		}
		s.blanked = blank
		switch {
		case s.escaped:
			s.escaped = false
		case c == '"':
			s.text = !s.text
		case c == '\\' && s.text:
			s.escaped = true
		}
		p[n] = c
		n++
	}
	return n
}
