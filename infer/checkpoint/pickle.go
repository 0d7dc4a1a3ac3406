package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Limits of a weight file's pickle. The largest released models stay under a
// hundredth of each.
const (
	maxPickle      = 16 << 20 // bytes
	maxPickleStack = 1 << 17
	maxPickleMarks = 1 << 12
	maxPickleMemo  = 1 << 19
)

// unpickle decodes the data.pkl of a torch file without executing anything: it
// knows the opcodes and globals that weights need and refuses every other by
// name. The result consists of int64, float64, bool, string, nil and the types
// of pickle_objects.go. It may contain itself; no function here recurses into it.
func unpickle(data []byte) (any, error) {
	if len(data) > maxPickle {
		return nil, fmt.Errorf("%d bytes of pickle, at most %d are read", len(data), maxPickle)
	}
	m := machine{data: data, memo: map[uint32]any{}}
	for {
		at := m.pos
		op, err := m.byte()
		if err != nil {
			return nil, err
		}
		if op == opStop {
			return m.pop()
		}
		if err := m.execute(op); err != nil {
			return nil, fmt.Errorf("%w (byte %d)", err, at)
		}
		if len(m.stack) > maxPickleStack || len(m.marks) > maxPickleMarks || len(m.memo) > maxPickleMemo {
			return nil, fmt.Errorf("the pickle needs more memory than weights do (byte %d)", at)
		}
	}
}

// A machine is the state of the pickle virtual machine.
type machine struct {
	data  []byte
	pos   int
	stack []any
	marks []int // heights of the stack
	memo  map[uint32]any
}

// The opcodes that are understood; see pickletools of the Python library.
const (
	opProto           = 0x80
	opFrame           = 0x95
	opStop            = '.'
	opMark            = '('
	opGlobal          = 'c'
	opStackGlobal     = 0x93
	opBinPut          = 'q'
	opLongBinPut      = 'r'
	opMemoize         = 0x94
	opBinGet          = 'h'
	opLongBinGet      = 'j'
	opEmptyTuple      = ')'
	opTuple           = 't'
	opTuple1          = 0x85
	opTuple2          = 0x86
	opTuple3          = 0x87
	opEmptyList       = ']'
	opAppend          = 'a'
	opAppends         = 'e'
	opEmptyDict       = '}'
	opSetItem         = 's'
	opSetItems        = 'u'
	opNone            = 'N'
	opNewTrue         = 0x88
	opNewFalse        = 0x89
	opBinInt          = 'J'
	opBinInt1         = 'K'
	opBinInt2         = 'M'
	opLong1           = 0x8a
	opBinFloat        = 'G'
	opBinUnicode      = 'X'
	opShortBinUnicode = 0x8c
	opShortBinString  = 'U'
	opBinPersID       = 'Q'
	opReduce          = 'R'
	opBuild           = 'b'
)

// refusedOpcodes names opcodes that are known but not needed, for messages.
var refusedOpcodes = map[byte]string{
	'0': "POP", '1': "POP_MARK", '2': "DUP", 'F': "FLOAT", 'I': "INT", 'L': "LONG", 'P': "PERSID", 'S': "STRING",
	'T': "BINSTRING", 'V': "UNICODE", 'B': "BINBYTES", 'C': "SHORT_BINBYTES", 'd': "DICT", 'g': "GET", 'i': "INST",
	'l': "LIST", 'o': "OBJ", 'p': "PUT", 0x81: "NEWOBJ", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x8b: "LONG4",
	0x8d: "BINUNICODE8", 0x8e: "BINBYTES8", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET", 0x92: "NEWOBJ_EX",
	0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}

// execute executes one opcode other than STOP.
func (m *machine) execute(op byte) error {
	switch op {
	case opProto, opFrame:
		return m.header(op)
	case opMark:
		m.marks = append(m.marks, len(m.stack))
		return nil
	case opBinPut, opLongBinPut, opMemoize:
		return m.remember(op)
	case opBinGet, opLongBinGet:
		return m.recall(op)
	case opNone, opNewTrue, opNewFalse, opBinInt, opBinInt1, opBinInt2, opLong1, opBinFloat,
		opBinUnicode, opShortBinUnicode, opShortBinString:
		return m.literal(op)
	case opEmptyTuple, opTuple, opTuple1, opTuple2, opTuple3:
		return m.tuple(op)
	case opEmptyList, opAppend, opAppends, opEmptyDict, opSetItem, opSetItems:
		return m.container(op)
	case opGlobal, opStackGlobal, opBinPersID, opReduce, opBuild:
		return m.object(op)
	}
	if name, known := refusedOpcodes[op]; known {
		return fmt.Errorf("pickle opcode %s, which weights do not need", name)
	}
	return fmt.Errorf("0x%02x is no pickle opcode", op)
}

// header checks the opcodes that frame the stream. Decoding does not need frames.
func (m *machine) header(op byte) error {
	if op == opProto {
		version, err := m.byte()
		if err == nil && (version < 2 || version > 5) {
			return fmt.Errorf("pickle protocol %d, torch writes 2 to 5", version)
		}
		return err
	}
	_, err := m.take(8)
	return err
}

// remember stores the top of the stack in the memo.
func (m *machine) remember(op byte) error {
	key := uint32(len(m.memo))
	if op != opMemoize {
		var err error
		if key, err = m.memoKey(op == opLongBinPut); err != nil {
			return err
		}
	}
	if len(m.stack) == 0 {
		return errEmptyStack
	}
	m.memo[key] = m.stack[len(m.stack)-1]
	return nil
}

// recall pushes a value of the memo.
func (m *machine) recall(op byte) error {
	key, err := m.memoKey(op == opLongBinGet)
	if err != nil {
		return err
	}
	v, ok := m.memo[key]
	if !ok {
		return fmt.Errorf("the pickle refers to object %d before making it", key)
	}
	m.push(v)
	return nil
}

func (m *machine) memoKey(long bool) (uint32, error) {
	if !long {
		b, err := m.byte()
		return uint32(b), err
	}
	b, err := m.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// literal pushes a number, string, boolean or None.
func (m *machine) literal(op byte) error {
	switch op {
	case opNone:
		m.push(nil)
		return nil
	case opNewTrue, opNewFalse:
		m.push(op == opNewTrue)
		return nil
	case opBinUnicode:
		return m.text(4)
	case opShortBinUnicode, opShortBinString:
		return m.text(1)
	}
	return m.number(op)
}

// text pushes a string whose length is in the next lengthBytes bytes.
func (m *machine) text(lengthBytes int) error {
	b, err := m.take(lengthBytes)
	if err != nil {
		return err
	}
	n := uint64(b[0])
	if lengthBytes == 4 {
		n = uint64(binary.LittleEndian.Uint32(b))
	}
	if n > uint64(len(m.data)) {
		return errPickleEnds
	}
	b, err = m.take(int(n))
	if err != nil {
		return err
	}
	m.push(string(b))
	return nil
}

// number pushes an int64 or float64.
func (m *machine) number(op byte) error {
	b, err := m.take(numberBytes(op))
	if err != nil {
		return err
	}
	switch op {
	case opBinInt:
		m.push(int64(int32(binary.LittleEndian.Uint32(b))))
	case opBinInt1:
		m.push(int64(b[0]))
	case opBinInt2:
		m.push(int64(binary.LittleEndian.Uint16(b)))
	case opBinFloat:
		m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case opLong1:
		if b[0] > 8 {
			return fmt.Errorf("an integer of %d bytes, at most 8 are read", b[0])
		}
		if b, err = m.take(int(b[0])); err != nil {
			return err
		}
		m.push(signed(b))
	}
	return nil
}

// numberBytes is how many bytes follow the opcode of a number. The byte after LONG1
// is the number of further bytes.
func numberBytes(op byte) int {
	switch op {
	case opBinInt2:
		return 2
	case opBinInt:
		return 4
	case opBinFloat:
		return 8
	}
	return 1
}

// signed decodes a little-endian two's complement integer of 0 to 8 bytes.
func signed(b []byte) int64 {
	var v uint64
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	unused := 64 - 8*len(b)
	return int64(v<<unused) >> unused
}
