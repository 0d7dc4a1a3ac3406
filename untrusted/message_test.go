package untrusted_test

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"rookery/untrusted"
)

func TestMessage(t *testing.T) {
	var into struct {
		Shape []int64 `json:"shape"`
		Name  string  `json:"name"`
	}
	_, number := strconv.Atoi("x")
	_, zipped := zip.NewReader(strings.NewReader("x"), 1)
	_, deflated := io.ReadAll(flate.NewReader(strings.NewReader("\xff\xff")))
	for _, c := range []struct {
		err  error
		want string
	}{
		{json.Unmarshal([]byte(`{"shape":[1.5]}`), &into), `file: "shape" is a number 1.5 where a whole number belongs`},
		{json.Unmarshal([]byte(`{"name":[]}`), &into), `file: "name" is an array where a string belongs`},
		{json.Unmarshal([]byte(`[]`), &into), "file: an array where an object belongs"},
		{number, `file: "x" is not a number that can be read`},
		{zipped, "file: it is not a whole zip file"},
		{deflated, "file: its compressed bytes are damaged"},
		{io.ErrUnexpectedEOF, "file: it ends too early"},
		{errors.New("something else"), "file: something else"},
	} {
		if got := untrusted.Message(fmt.Errorf("file: %w", c.err)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		joined := errors.Join(errors.New("first"), fmt.Errorf("file: %w", c.err))
		if got := untrusted.Message(joined); got != "first\n"+c.want {
			t.Errorf("joined: %q", got)
		}
	}
}
