package checkpoint

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestUnpickleLiterals(t *testing.T) {
	for _, c := range []struct {
		pickle string
		want   any
	}{
		{"N.", nil},
		{"\x88.", true},
		{"\x89.", false},
		{"K\xff.", int64(255)},
		{"M\x01\x02.", int64(513)},
		{"J\xff\xff\xff\xff.", int64(-1)},
		{"\x8a\x00.", int64(0)},
		{"\x8a\x01\xff.", int64(-1)},
		{"\x8a\x02\x00\x80.", int64(-32768)},
		{"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", int64(1<<63 - 1)},
		{"G\x3f\xf8\x00\x00\x00\x00\x00\x00.", 1.5},
		{"X\x02\x00\x00\x00ab.", "ab"},
		{"\x8c\x02ab.", "ab"},
		{"U\x02ab.", "ab"},
		{").", pyTuple{}},
		{"K\x01\x85.", pyTuple{int64(1)}},
		{"K\x01K\x02\x86.", pyTuple{int64(1), int64(2)}},
		{"K\x01K\x02K\x03\x87.", pyTuple{int64(1), int64(2), int64(3)}},
		{"(K\x01K\x02t.", pyTuple{int64(1), int64(2)}},
		{"]K\x01a.", &pyList{items: []any{int64(1)}}},
		{"](K\x01K\x02e.", &pyList{items: []any{int64(1), int64(2)}}},
		{"}K\x01K\x02s.", &pyDict{keys: []any{int64(1)}, values: []any{int64(2)}}},
		{"}(K\x01K\x02u.", &pyDict{keys: []any{int64(1)}, values: []any{int64(2)}}},
		{"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00K\x01\x94h\x00\x86.", pyTuple{int64(1), int64(1)}},
		{"K\x01q\x07h\x07\x86.", pyTuple{int64(1), int64(1)}},
		{"K\x01r\x07\x00\x01\x00j\x07\x00\x01\x00\x86.", pyTuple{int64(1), int64(1)}},
		{"ccollections\nOrderedDict\n)R.", &pyDict{}},
		{"ccollections\nOrderedDict\n)R}b.", &pyDict{}},
		{"\x8c\x05torch\x8c\x0bHalfStorage\x93.", pyGlobal("torch HalfStorage")},
	} {
		got, err := unpickle([]byte(c.pickle))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q = %#v, %v, want %#v", c.pickle, got, err, c.want)
		}
	}
}

func TestUnpickleRefuses(t *testing.T) {
	for _, c := range []struct{ pickle, part string }{
		{"", "ends in the middle"},
		{"K", "ends in the middle"},
		{"K\x01", "ends in the middle"},
		{"X\xff\xff\xff\xffab.", "ends in the middle"},
		{"ccollections", "ends in the middle"},
		{".", "takes more from its stack"},
		{"\x85.", "takes more from its stack"},
		{"t.", "takes more from its stack"},
		{"K\x01(\x85.", "takes more from its stack"},
		{"q\x00.", "takes more from its stack"},
		{"h\x00.", "refers to object 0"},
		{"\x80\x07N.", "protocol 7"},
		{"\x8a\x09123456789.", "integer of 9 bytes"},
		{"}(K\x01u.", "fills an object"},
		{"K\x01K\x02a.", "fills an object"},
		{"]K\x01K\x02s.", "fills an object"},
		{"cos\nsystem\n.", `"os system"`},
		{"cbuiltins\neval\n.", `"builtins eval"`},
		{"\x8c\x05posix\x8c\x06system\x93.", `"posix system"`},
		{"ctorch\nFloatStorage\n)R.", "unusable arguments"},
		{"ccollections\nOrderedDict\nK\x01\x85R.", "unusable arguments"},
		{"ctorch._utils\n_rebuild_tensor_v2\n)R.", "unusable arguments"},
		{"ctorch._utils\n_rebuild_parameter\nK\x01K\x02K\x03\x87R.", "unusable arguments"},
		{"K\x01)R.", "not an allowed function"},
		{"K\x01}b.", "attributes of something other"},
		{"K\x01Q.", "not a storage"},
		{"K\x01K\x02\x93.", "not a string"},
		{"(icos\nsystem\n.", "opcode INST"},
		{"ccollections\nOrderedDict\n)\x81.", "opcode NEWOBJ"},
		{"P0\n.", "opcode PERSID"},
		{"\xff.", "0xff is no pickle opcode"},
	} {
		got, err := unpickle([]byte(c.pickle))
		if err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%q = %v, %v, want an error with %q", c.pickle, got, err, c.part)
		}
	}
}

// What grows without end is stopped, and what contains itself is not followed.
func TestUnpickleHostileGrowth(t *testing.T) {
	memo := new(pickler)
	memo.op(opNone)
	for i := range maxPickleMemo + 2 {
		memo.op(opLongBinPut, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
	}
	for name, pickle := range map[string][]byte{
		"stack": bytes.Repeat([]byte{opNone}, maxPickleStack+2),
		"marks": bytes.Repeat([]byte{opMark}, maxPickleMarks+2),
		"memo":  memo.Bytes(),
		"size":  make([]byte, maxPickle+1),
	} {
		if got, err := unpickle(pickle); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	deep := append(append([]byte{opEmptyTuple}, bytes.Repeat([]byte{opTuple1}, 1<<20)...), opStop)
	refused(t, "deep nesting", pth(t, deep), "other than a dictionary")
	refused(t, "list in itself", pth(t, []byte("]q\x00h\x00a.")), "other than a dictionary")
	refused(t, "dict in itself", pth(t, []byte("}q\x00X\x01\x00\x00\x00ah\x00s.")), `tensor "a": it is not a tensor`)
	refused(t, "state_dict in itself", pth(t, []byte("}q\x00X\x0a\x00\x00\x00state_dicth\x00s.")), "it is not a tensor")
}

func TestPickleMessages(t *testing.T) {
	for name, c := range map[string]struct {
		pickle string
		parts  []string
	}{
		"code":    {"cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", []string{`data.pkl: the pickle asks for "os system"`, "may run code"}},
		"escapes": {"cos\n\x1b]0;title\x07\n.", []string{`"os \x1b]0;title\a"`}},
		"long":    {"cos\n" + strings.Repeat("n", 1<<16) + "\n.", []string{"..."}},
		"number":  {"}K\x01K\x02s.", []string{"entry 0", "not named by a string"}},
		"scalar":  {"}X\x05\x00\x00\x00epochK\x03s.", []string{`tensor "epoch": it is not a tensor`, "save only the dictionary"}},
	} {
		refused(t, name, pth(t, []byte(c.pickle)), c.parts...)
	}
	_, err := Open("testdata/converted.pth")
	if err == nil || !strings.Contains(err.Error(), "converted by the rwkv package") {
		t.Errorf("converted.pth: %v", err)
	}
	_, err = Open("testdata/old.pth")
	if want := "testdata/old.pth: this is a pickle from before torch 1.6"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("old.pth: %v", err)
	}
	if got := fmt.Sprint(DType(0), DType(200), BF16); got != "unknown unknown bf16" {
		t.Error(got)
	}
}
