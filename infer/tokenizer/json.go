package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// readJSON reads the JSON form: an object from ids, as strings, to a string or
// an array of byte values.
func (v *vocabulary) readJSON(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("the JSON is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil { // the opening brace
		return fmt.Errorf("reading JSON: %w", err)
	}
	for d.More() {
		if err := v.readJSONEntry(d); err != nil {
			return fmt.Errorf("near byte %d: %w", d.InputOffset(), err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("reading JSON: %w; is the file complete?", err)
	}
	if len(bytes.TrimSpace(data[d.InputOffset():])) > 0 {
		return errors.New("there is more after the JSON object")
	}
	return nil
}

func (v *vocabulary) readJSONEntry(d *json.Decoder) error {
	key, err := d.Token()
	if err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	name, _ := key.(string) // the decoder gives no other kind of key
	id, err := strconv.Atoi(name)
	if err != nil {
		return fmt.Errorf("the key %.40q is not a token id", name)
	}
	value, err := d.Token()
	if err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	var token []byte
	switch value := value.(type) {
	case string:
		token = []byte(value)
	case json.Delim:
		token, err = readJSONBytes(d, value)
	default:
		err = errors.New("not a string or an array of bytes")
	}
	if err == nil {
		err = checkEntry(id, len(token))
	}
	if err != nil {
		return fmt.Errorf("token %d: %w", id, err)
	}
	if id != 0 {
		v.add(int32(id), token)
	}
	return nil
}

// readJSONBytes reads an array of numbers from 0 to 255, whose opening
// delimiter has been read.
func readJSONBytes(d *json.Decoder, open json.Delim) ([]byte, error) {
	if open != '[' {
		return nil, errors.New("not a string or an array of bytes")
	}
	var token []byte
	for d.More() {
		value, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("reading JSON: %w", err)
		}
		n, ok := value.(float64)
		if !ok || n != float64(byte(n)) {
			return nil, fmt.Errorf("%v is not a byte", value)
		}
		token = append(token, byte(n))
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return token, nil
}
