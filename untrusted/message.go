package untrusted

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Message is the text of an error for a person. What libraries say about the data that
// they read is put in plain words: their own words name types of this program.
func Message(err error) string {
	text := err.Error()
	for e := range causes(err) {
		if plain := explain(e); plain != "" {
			text = strings.Replace(text, e.Error(), plain, 1)
		}
	}
	return text
}

// causes are an error and all that it wraps.
func causes(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		if err == nil || !yield(err) {
			return
		}
		switch e := err.(type) { //nolint:errorlint // the chain is gone through here
		case interface{ Unwrap() error }:
			causes(e.Unwrap())(yield)
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				causes(inner)(yield)
			}
		}
	}
}

// explain says in plain words what an error of a library means, or nothing.
func explain(err error) string {
	switch e := err.(type) { //nolint:errorlint // one error of a chain
	case *json.UnmarshalTypeError:
		where := ""
		if e.Field != "" {
			where = strconv.Quote(e.Field) + " is "
		}
		return fmt.Sprintf("%s%s where %s belongs", where, article(e.Value), jsonKind(e.Type))
	case *strconv.NumError:
		return fmt.Sprintf("%.40q is not a number that can be read", e.Num)
	case flate.CorruptInputError:
		return "its compressed bytes are damaged"
	}
	switch err {
	case zip.ErrFormat: //nolint:errorlint // a wrapped one keeps the words that it is wrapped in
		return "it is not a whole zip file"
	case zip.ErrAlgorithm:
		return "it is compressed in a way that is not read"
	case zip.ErrChecksum:
		return "its bytes are not those that were written"
	case io.ErrUnexpectedEOF:
		return "it ends too early"
	}
	return ""
}

// article puts one before what JSON has, as "number 1e999".
func article(what string) string {
	if strings.HasPrefix(what, "a") || strings.HasPrefix(what, "o") {
		return "an " + what
	}
	return "a " + what
}

// jsonKind is what JSON calls the values of a type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct, reflect.Pointer:
		return "an object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "something else"
}
