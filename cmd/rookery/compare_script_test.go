package main

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// cutFile removes bytes from the end of a file, as a crash does: "cut FILE BYTES".
func cutFile(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-n))
}

// sameAnswers checks that two files of results have the same answers, apart from the
// times: "same-answers FILE FILE".
func sameAnswers(ts *testscript.TestScript, _ bool, args []string) {
	if a, b := untimed(ts, args[0]), untimed(ts, args[1]); !reflect.DeepEqual(a, b) {
		ts.Fatalf("%v\nand\n%v", a, b)
	}
}

func untimed(ts *testscript.TestScript, name string) (list []comparedJSON) {
	for _, line := range bytes.Split(bytes.TrimSuffix([]byte(ts.ReadFile(name)), []byte("\n")), []byte("\n")) {
		var r comparedJSON
		ts.Check(json.Unmarshal(line, &r))
		for i := range r.Answers {
			r.Answers[i].Usage, r.Answers[i].Rate = usageJSON{}, 0
		}
		list = append(list, r)
	}
	return list
}
