package panel

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// rate writes tokens a second with three digits or so.
func rate(v float64) string {
	switch {
	case v >= 99_950:
		return fmt.Sprintf("%.0fk", v/1000)
	case v >= 9_995:
		return fmt.Sprintf("%.1fk", v/1000)
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// size writes a size in powers of 1000.
func size(n int64) string {
	v, units := float64(n)/1000, []string{"kB", "MB", "GB"}
	for len(units) > 1 && v >= 999.5 {
		v, units = v/1000, units[1:]
	}
	if v < 9.95 {
		return fmt.Sprintf("%.1f %s", v, units[0])
	}
	return fmt.Sprintf("%.0f %s", v, units[0])
}

// millis writes a duration as a number of milliseconds.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 9.95:
		return fmt.Sprintf("%.2g", ms)
	case ms < 9999.5:
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprintf("%.0fk", ms/1000)
}

// count writes a number in groups of three digits.
func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural is "1 row" or "3 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// clean makes text that a person or a model wrote fit for one line.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
