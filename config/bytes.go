package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory, written as "2 GB".
type Bytes int64

var byteUnits = map[string]float64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}

// UnmarshalText reads a number and a unit.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	number := strings.TrimRight(s, "BKMGTbkmgt ")
	factor, ok := byteUnits[strings.ToLower(strings.TrimSpace(s[len(number):]))]
	n, err := strconv.ParseFloat(number, 64)
	if n *= factor; err != nil || !ok || !(n >= 0 && n < math.MaxInt64) {
		return fmt.Errorf("%q is not an amount of memory; write a number and a unit, such as \"500 MB\" or \"2 GB\"", s)
	}
	*b = Bytes(n)
	return nil
}

// MarshalText writes the number in the largest unit that divides it.
func (b Bytes) MarshalText() ([]byte, error) {
	for _, unit := range []struct {
		name string
		size Bytes
	}{{" TB", 1e12}, {" GB", 1e9}, {" MB", 1e6}, {" kB", 1e3}} {
		if b >= unit.size && b%unit.size == 0 {
			return []byte(strconv.FormatInt(int64(b/unit.size), 10) + unit.name), nil
		}
	}
	return []byte(strconv.FormatInt(int64(b), 10) + " B"), nil
}
