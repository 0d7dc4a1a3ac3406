package panel

import "rookery/ui/kit"

// barAt is the column at which the bars of the parameters begin.
const barAt = 2 + nameWidth + 1 + valueWidth + 1

// Press chooses the row under the pointer. On a bar it sets the value; a second
// time on a row without a bar it does what enter does.
func (s *Sampling) Press(x, y int) kit.Action {
	i, ok := s.rowAt(x, y)
	if !ok {
		return nil
	}
	again := i == s.at
	s.at, s.typing, s.wrong = i, false, ""
	row := s.rows[i]
	switch {
	case row.put != nil && x >= barAt-1 && s.bars():
		s.dragging = true
		return s.Drag(x, y)
	case row.put == nil && again:
		return s.enter()
	}
	return nil
}

// Drag sets the value of the bar on which the button went down.
func (s *Sampling) Drag(x, _ int) kit.Action {
	if !s.dragging {
		return nil
	}
	p := s.current()
	s.rows[s.at].put(&p, min(max(float64(x-barAt)/float64(s.barWidth()-1), 0), 1))
	return s.ask(p)
}

// Release ends a drag.
func (s *Sampling) Release() { s.dragging = false }

// Wheel chooses another row: the one after if by is positive.
func (s *Sampling) Wheel(by int) {
	if !s.typing {
		s.at = min(max(s.at+by, 0), len(s.rows)-1)
	}
}

// columnWidth is how wide the parameters are.
func (s *Sampling) columnWidth() int {
	if s.width >= besideWidth {
		return s.paramsColumn()
	}
	return s.width
}

func (s *Sampling) barWidth() int { return s.columnWidth() - barAt - 1 }

// bars says whether the parameters have bars.
func (s *Sampling) bars() bool { return s.barWidth() >= 6 && s.drawsGraphs() }

// rowAt is the row at a cell.
func (s *Sampling) rowAt(x, y int) (i int, ok bool) {
	width := s.columnWidth()
	room := s.height - len(s.help(width, s.height))
	i = s.firstRow(room) + y
	return i, x >= 0 && x < width && y >= 0 && y < room && i < len(s.rows)
}
