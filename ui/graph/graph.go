package graph

import "math"

// A Style is the set of characters a graph is drawn with.
type Style uint8

// The styles.
const (
	Braille Style = iota
	Blocks
	ASCII
)

// levels are the fillings of one cell from empty to full, for the styles with
// one column a cell.
var levels = [...][]rune{
	Blocks: []rune(" ▁▂▃▄▅▆▇█"),
	ASCII:  []rune(" .:#"),
}

// dots are the braille dots of the left and of the right column of a cell, by
// how many are lit from the bottom up.
var dots = [2][5]rune{
	{0, 0x40, 0x44, 0x46, 0x47},
	{0, 0x80, 0xa0, 0xb0, 0xb8},
}

// Columns is how many values a graph of that many cells shows side by side.
func (s Style) Columns(width int) int {
	if s == Braille {
		return 2 * width
	}
	return width
}

// steps is how many heights a cell has besides empty.
func (s Style) steps() int {
	if s == Braille {
		return 4
	}
	return len(levels[s]) - 1
}

// NiceMax is the least of 1, 2 and 5 times a power of ten that is not below
// any of the values: a top of a scale that a person can read. It is at least
// the given least value.
func NiceMax(values []float64, least float64) float64 {
	top := least
	for _, v := range values {
		if v > top && !math.IsInf(v, 0) {
			top = v
		}
	}
	if top <= 0 || math.IsInf(top, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(top)))
	for _, m := range []float64{1, 2, 5} {
		if top <= m*unit*(1+1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

// height is the number of steps that show v on a scale up to top: any value
// above zero shows, and -1 stands for a value that is not a number.
func height(v, top float64, steps int) int {
	if math.IsNaN(v) {
		return -1
	}
	if v <= 0 || top <= 0 {
		return 0
	}
	return max(1, int(math.Round(min(v/top, 1)*float64(steps))))
}

// largest is the largest value that is a number, or 0.
func largest(values []float64) float64 {
	top := 0.0
	for _, v := range values {
		if v > top {
			top = v
		}
	}
	return top
}
