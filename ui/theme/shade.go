package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Shades are the styles of the rows of a graph, from the top: the colour itself
// and, further down, more of the background. A colour of the terminal's own
// palette has one shade, since nobody knows what it looks like.
func (t Theme) Shades(s lipgloss.Style, rows int) []lipgloss.Style {
	shades := make([]lipgloss.Style, rows)
	ink := s.GetForeground()
	_, basic := ink.(ansi.BasicColor)
	_, none := ink.(lipgloss.NoColor)
	if basic || none || rows < 2 {
		for i := range shades {
			shades[i] = s
		}
		return shades
	}
	const faintest = 0.45 // of the colour, in the lowest row
	ground := color.Gray{Y: 255}
	if t.Dark {
		ground.Y = 0
	}
	steps := lipgloss.Blend1D(100, ground, ink)
	for i := range shades {
		part := 1 - (1-faintest)*float64(i)/float64(rows-1)
		shades[i] = s.Foreground(steps[int(part*99)])
	}
	return shades
}
