package turn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// An ID names a conversation or a turn. IDs sort by creation time and are
// unique across processes: microseconds since 2020 above idNoise random bits.
// They fit an int64 until the year 2091.
type ID int64

const idNoise = 12

var (
	idEpoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	lastID  atomic.Int64
)

// NewID is greater than every ID this process made before, whatever the clock does.
func NewID() ID {
	next := time.Since(idEpoch).Microseconds()<<idNoise | rand.Int64N(1<<idNoise)
	for {
		last := lastID.Load()
		if next <= last {
			next = last + 1
		}
		if lastID.CompareAndSwap(last, next) {
			return ID(next)
		}
	}
}

// lastMet is the greatest ID that new ones go on from: there is room behind it.
const lastMet ID = math.MaxInt64 - 1<<40

// Met makes all IDs from now on greater than one that was met. Those of a
// conversation's turns are in order then, also where the clock was set back or
// they come from another machine.
func Met(id ID) {
	for id <= lastMet {
		last := lastID.Load()
		if int64(id) <= last || lastID.CompareAndSwap(last, int64(id)) {
			return
		}
	}
}

// Created is when the ID was made, to the microsecond.
func (id ID) Created() time.Time {
	return idEpoch.Add(time.Duration(id>>idNoise) * time.Microsecond)
}

// String is the ID in decimal.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalJSON writes the ID as a string: IDs exceed what the numbers of
// JavaScript hold.
func (id ID) MarshalJSON() ([]byte, error) { return []byte(`"` + id.String() + `"`), nil }

// UnmarshalJSON reads a string, or a number; an empty string is 0.
func (id *ID) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	if text == "" || text == "null" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%.40q is no id", text)
	}
	*id = ID(n)
	return nil
}
