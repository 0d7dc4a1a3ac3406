package config

import (
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// maxNesting bounds how deep the values and names of a TOML file nest. The library
// needs time and memory by the square of it, and takes any depth.
const maxNesting = 16

// Decode reads TOML of a bounded nesting. It is for all TOML that a person gives.
func Decode(data []byte, into any) (toml.MetaData, error) {
	if line := deepLine(data); line > 0 {
		return toml.MetaData{}, fmt.Errorf("line %d: brackets or the parts of a name nest deeper than %d", line, maxNesting)
	}
	meta, err := toml.Decode(string(data), into)
	if at, ok := errors.AsType[toml.ParseError](err); ok {
		err = &syntaxError{at}
	}
	return meta, err
}

// A syntaxError says where a file is no TOML.
type syntaxError struct{ at toml.ParseError }

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d: %s", e.at.Position.Line, e.at.Message)
}

func (e *syntaxError) Unwrap() error { return e.at }

// deepLine is the line at which the text nests too deep, or 0. Text in quotes and
// comments does not count.
func deepLine(data []byte) int {
	line, depth, parts := 1, 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '\n':
			line, parts = line+1, 0
		case '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			end := skipString(data, i)
			for ; i < end-1; i++ {
				if data[i] == '\n' {
					line++
				}
			}
		case '[', '{':
			depth, parts = depth+1, 0
		case ']', '}':
			depth = max(depth-1, 0)
		case '=', ',':
			parts = 0
		case '.':
			parts++
		}
		if depth > maxNesting || parts > maxNesting {
			return line
		}
	}
	return 0
}

// skipString returns where the string that begins at i ends. A string in single or
// double quotes that is not closed ends with its line.
func skipString(data []byte, i int) int {
	quote := data[i]
	long := i+2 < len(data) && data[i+1] == quote && data[i+2] == quote
	if long {
		i += 2
	}
	for i++; i < len(data); i++ {
		switch {
		case data[i] == '\\' && quote == '"':
			i++
		case data[i] == '\n' && !long:
			return i
		case data[i] == quote && !long:
			return i + 1
		case data[i] == quote && i+2 < len(data) && data[i+1] == quote && data[i+2] == quote:
			return i + 3
		}
	}
	return len(data)
}
