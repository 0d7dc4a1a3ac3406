package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// readLines reads World's format: a line "ID LITERAL LENGTH" per token.
func (v *vocabulary) readLines(data []byte) error {
	v.text = make([]byte, 0, len(data))
	v.items = make([]item, 0, bytes.Count(data, []byte{'\n'})+1)
	var token []byte
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 {
			continue
		}
		id, literal, length, err := splitLine(line)
		if err == nil {
			token, err = appendLiteral(token[:0], literal)
		}
		if err == nil {
			err = checkEntry(id, len(token))
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if len(token) != length {
			return fmt.Errorf("line %d: token %d has %d bytes, but the line says %d", n, id, len(token), length)
		}
		if id != 0 {
			v.add(int32(id), token)
		}
	}
	return nil
}

var errLine = errors.New("not of the form ID 'TOKEN' LENGTH; is it a World vocabulary file?")

func splitLine(line []byte) (id int, literal []byte, length int, err error) {
	first, last := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ' ')
	if first < 0 || first == last {
		return 0, nil, 0, errLine
	}
	if id, err = strconv.Atoi(string(line[:first])); err != nil {
		return 0, nil, 0, errLine
	}
	if length, err = strconv.Atoi(string(line[last+1:])); err != nil {
		return 0, nil, 0, errLine
	}
	return id, line[first+1 : last], length, nil
}

// appendLiteral appends the bytes that a Python literal stands for: '...' and
// "..." are text, in UTF-8; b'...' and b"..." are bytes.
func appendLiteral(dst, lit []byte) ([]byte, error) {
	raw := len(lit) > 0 && lit[0] == 'b'
	if raw {
		lit = lit[1:]
	}
	if len(lit) < 2 || lit[0] != '\'' && lit[0] != '"' || lit[len(lit)-1] != lit[0] {
		return nil, errLine
	}
	quote, body := lit[0], lit[1:len(lit)-1]
	if !raw && !utf8.Valid(body) {
		return nil, errors.New("the token is not UTF-8")
	}
	for len(body) > 0 {
		c := body[0]
		switch {
		case c == '\\':
			var err error
			if dst, body, err = appendEscape(dst, body, raw); err != nil {
				return nil, err
			}
			continue
		case c == quote:
			return nil, errors.New("a quote inside the token is not escaped")
		case raw && c >= utf8.RuneSelf:
			return nil, errors.New("a byte literal holds a character that is not ASCII")
		}
		dst = append(dst, c)
		body = body[1:]
	}
	return dst, nil
}

// simpleEscapes are Python's escapes of one letter, and what they stand for.
var simpleEscapes = [256]byte{
	'\\': '\\', '\'': '\'', '"': '"',
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// appendEscape appends what the escape at the start of body stands for, and
// returns what follows it.
func appendEscape(dst, body []byte, raw bool) (out, rest []byte, err error) {
	if len(body) < 2 {
		return nil, nil, errors.New("the token ends in a backslash")
	}
	kind := body[1]
	if c := simpleEscapes[kind]; c != 0 {
		return append(dst, c), body[2:], nil
	}
	digits := 0
	switch {
	case kind == 'x':
		digits = 2
	case kind == 'u' && !raw:
		digits = 4
	case kind == 'U' && !raw:
		digits = 8
	}
	if digits == 0 || len(body) < 2+digits {
		return nil, nil, fmt.Errorf("unknown escape \\%c", kind)
	}
	code, err := strconv.ParseUint(string(body[2:2+digits]), 16, 32)
	if err != nil {
		return nil, nil, fmt.Errorf("bad escape %q", body[:2+digits])
	}
	if raw {
		return append(dst, byte(code)), body[2+digits:], nil
	}
	if code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
		return nil, nil, fmt.Errorf("%q is not a character", body[:2+digits])
	}
	return utf8.AppendRune(dst, rune(code)), body[2+digits:], nil
}
