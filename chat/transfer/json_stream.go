package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// eachField calls read at the value of every field of an object.
func eachField(dec *json.Decoder, read func(name string) error) error {
	if err := expect(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		text, ok := name.(string)
		if !ok {
			return fmt.Errorf("there is %v where a name must be", name)
		}
		if err := read(text); err != nil {
			return err
		}
	}
	return expect(dec, '}')
}

// eachElement calls read at every element of an array; null has none.
func eachElement(dec *json.Decoder, read func() error) error {
	if err := expect(dec, '['); err != nil {
		return err
	}
	for dec.More() {
		if err := read(); err != nil {
			return err
		}
	}
	return expect(dec, ']')
}

func expect(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("there is %v where %v must be", got, want)
	}
	return nil
}
