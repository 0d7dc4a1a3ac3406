package transfer

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestSqueezeKeepsTheMeaning(t *testing.T) {
	text := "  {\n\t\"a  b\" :  [ 1,   2 ],\"c\\\"  d\\\\\":\r\n\"  \" , \"e\":true   }  \n\n  [1  ]"
	want := " {\n\"a  b\" : [ 1, 2 ],\"c\\\"  d\\\\\":\r\"  \" , \"e\":true } [1 ]"
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)), "end with data": iotest.DataErrReader(strings.NewReader(text))} {
		got, err := io.ReadAll(squeeze(r))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

// Half a minute without squeezing.
func TestBlanksTakeNoTime(t *testing.T) {
	blanks := bytes.Repeat([]byte(" "), 100<<20)
	start := time.Now()
	_, err := readTree(io.MultiReader(strings.NewReader(`{"format":"rookery-tree",`), bytes.NewReader(blanks), strings.NewReader(`"turns":x`)))
	if err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

func FuzzSqueeze(f *testing.F) {
	f.Add([]byte(`{"a  b":  [1,  2 ], "c\"  ": "\\"  }`))
	f.Add([]byte("  \"  \\\" \n\n \" \r\r  1  1 "))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := io.ReadAll(squeeze(iotest.HalfReader(bytes.NewReader(data))))
		if err != nil {
			t.Fatal(err)
		}
		if json.Valid(data) != json.Valid(got) {
			t.Fatalf("%q became %q", data, got)
		}
		var before, after any
		if json.Unmarshal(data, &before) == nil && json.Unmarshal(got, &after) == nil {
			a, _ := json.Marshal(before)
			b, _ := json.Marshal(after)
			if !bytes.Equal(a, b) {
				t.Fatalf("%s became %s", a, b)
			}
		}
	})
}
