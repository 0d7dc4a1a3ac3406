package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// An ordered is a JSON object whose keys keep their order.
type ordered struct {
	keys   []string
	values map[string]any
}

// decodeOrdered reads one JSON value. Objects are *ordered, numbers json.Number.
func decodeOrdered(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the first value")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxNesting)
	}
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		return decodeObject(d, depth)
	}
	return t, err
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	o := &ordered{values: map[string]any{}}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if _, twice := o.values[key]; !ok || twice {
			return nil, fmt.Errorf("the key %q is there twice", clip(key))
		}
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		o.keys = append(o.keys, key)
		o.values[key] = v
	}
	_, err := d.Token()
	return o, err
}

// MarshalJSON writes the object in its order.
func (o *ordered) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, key := range o.keys {
		if i > 0 {
			out = append(out, ',')
		}
		value, err := encode(o.values[key])
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, quote(key)...), ':'), value...)
	}
	return append(out, '}'), nil
}

// encode is a value as JSON without blanks, and < > & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// quote is a text as a JSON string.
func quote(text string) string {
	b, _ := encode(text) // a string is always encoded
	return string(b)
}
