package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
)

var (
	errEmptyStack = errors.New("the pickle takes more from its stack than it put there")
	errPickleEnds = errors.New("the pickle ends in the middle")
)

// The objects in a pickle of weights, besides numbers and strings.
type (
	pyTuple []any
	pyList  struct{ items []any }
	pyDict  struct{ keys, values []any }
	// pyGlobal is the module and the name of an allowed class or function.
	pyGlobal string
	// pyStorage is an entry of the zip file with count values.
	pyStorage struct {
		dtype DType
		key   string
		count int64
	}
	// pyTensor is a strided view of a storage, in values.
	pyTensor struct {
		storage       pyStorage
		offset        int64
		shape, stride []int64
	}
)

const (
	globalOrderedDict      = pyGlobal("collections OrderedDict")
	globalRebuildTensor    = pyGlobal("torch._utils _rebuild_tensor_v2")
	globalRebuildParameter = pyGlobal("torch._utils _rebuild_parameter")
)

// storageTypes are the storage classes and the types of their values.
var storageTypes = map[pyGlobal]DType{
	"torch FloatStorage": F32, "torch HalfStorage": F16, "torch BFloat16Storage": BF16, "torch DoubleStorage": F64,
	"torch ByteStorage": U8, "torch LongStorage": I64, "torch IntStorage": I32, "torch UntypedStorage": U8,
}

// tuple pushes a tuple of the values above the mark, or of the top 0 to 3 values.
func (m *machine) tuple(op byte) error {
	n := 0
	switch op {
	case opTuple:
		items, err := m.popMark()
		if err != nil {
			return err
		}
		m.push(pyTuple(items))
		return nil
	case opTuple1, opTuple2, opTuple3:
		n = int(op-opTuple1) + 1
	}
	if err := m.need(n); err != nil {
		return err
	}
	items := append(pyTuple{}, m.stack[len(m.stack)-n:]...)
	m.stack = m.stack[:len(m.stack)-n]
	m.push(items)
	return nil
}

// container makes lists and dicts and fills them.
func (m *machine) container(op byte) error {
	var items []any
	switch op {
	case opEmptyList:
		m.push(&pyList{})
		return nil
	case opEmptyDict:
		m.push(&pyDict{})
		return nil
	case opAppend, opSetItem:
		n := 1
		if op == opSetItem {
			n = 2
		}
		if err := m.need(n); err != nil {
			return err
		}
		items = append(items, m.stack[len(m.stack)-n:]...)
		m.stack = m.stack[:len(m.stack)-n]
	default:
		var err error
		if items, err = m.popMark(); err != nil {
			return err
		}
	}
	if err := m.need(1); err != nil {
		return err
	}
	return fill(m.stack[len(m.stack)-1], items, op == opSetItem || op == opSetItems)
}

// fill adds items to a list, or keys and values in turn to a dict.
func fill(target any, items []any, pairs bool) error {
	switch c := target.(type) {
	case *pyList:
		if !pairs {
			c.items = append(c.items, items...)
			return nil
		}
	case *pyDict:
		if pairs && len(items)%2 == 0 {
			for i := 0; i < len(items); i += 2 {
				c.keys = append(c.keys, items[i])
				c.values = append(c.values, items[i+1])
			}
			return nil
		}
	}
	return errors.New("the pickle fills an object that is not such a container")
}

// object executes the opcodes for classes, functions, storages and calls.
func (m *machine) object(op byte) error {
	switch op {
	case opGlobal:
		module, err := m.line()
		if err != nil {
			return err
		}
		name, err := m.line()
		if err != nil {
			return err
		}
		return m.global(module + " " + name)
	case opBinPersID:
		id, err := m.pop()
		if err != nil {
			return err
		}
		s, err := storageOf(id)
		if err != nil {
			return err
		}
		m.push(s)
		return nil
	}
	// The others take two values.
	upper, err := m.pop()
	if err != nil {
		return err
	}
	lower, err := m.pop()
	if err != nil {
		return err
	}
	switch op {
	case opStackGlobal:
		module, okModule := lower.(string)
		name, okName := upper.(string)
		if !okModule || !okName {
			return errors.New("a global whose name is not a string")
		}
		return m.global(module + " " + name)
	case opBuild: // sets attributes, of which weights have only OrderedDict._metadata
		if _, isDict := lower.(*pyDict); !isDict {
			return errors.New("attributes of something other than an OrderedDict")
		}
		m.push(lower)
		return nil
	}
	v, err := call(lower, upper)
	if err != nil {
		return err
	}
	m.push(v)
	return nil
}

// global pushes an allowed global and refuses any other.
func (m *machine) global(name string) error {
	g := pyGlobal(name)
	_, isStorage := storageTypes[g]
	if !isStorage && g != globalOrderedDict && g != globalRebuildTensor && g != globalRebuildParameter {
		return &refusedGlobal{name: name}
	}
	m.push(g)
	return nil
}

// A refusedGlobal is a class or function that a file of weights does not need.
type refusedGlobal struct{ name string }

func (e *refusedGlobal) Error() string {
	return "the pickle asks for " + quoted(e.name) + ", which weights do not need"
}

// storageOf decodes a persistent id: ('storage', class, key, location, count).
func storageOf(id any) (pyStorage, error) {
	t, ok := id.(pyTuple)
	if !ok || len(t) != 5 || t[0] != any("storage") {
		return pyStorage{}, errors.New("a persistent id that is not a storage")
	}
	class, okClass := t[1].(pyGlobal)
	dtype, okType := storageTypes[class]
	key, okKey := t[2].(string)
	count, okCount := t[4].(int64)
	if !okClass || !okType || !okKey || !okCount || count < 0 {
		return pyStorage{}, errors.New("a storage with unusable type, name or size")
	}
	return pyStorage{dtype: dtype, key: key, count: count}, nil
}

// call evaluates one of the three allowed calls.
func call(function, arguments any) (any, error) {
	f, okFunction := function.(pyGlobal)
	args, okArgs := arguments.(pyTuple)
	if !okFunction || !okArgs {
		return nil, errors.New("a call of something that is not an allowed function")
	}
	switch f {
	case globalOrderedDict:
		if len(args) == 0 {
			return &pyDict{}, nil
		}
	case globalRebuildParameter: // (tensor, requires_grad, hooks)
		if len(args) == 3 {
			if t, ok := args[0].(pyTensor); ok {
				return t, nil
			}
		}
	case globalRebuildTensor: // (storage, offset, size, stride, requires_grad, hooks[, metadata])
		if len(args) == 6 || len(args) == 7 {
			return rebuildTensor(args)
		}
	}
	return nil, fmt.Errorf("a call of %s with unusable arguments", f)
}

// rebuildTensor checks the types of a tensor's parts, not yet their values.
func rebuildTensor(args pyTuple) (any, error) {
	storage, okStorage := args[0].(pyStorage)
	offset, okOffset := args[1].(int64)
	shape, okShape := integers(args[2])
	stride, okStride := integers(args[3])
	if !okStorage || !okOffset || !okShape || !okStride {
		return nil, fmt.Errorf("a call of %s with unusable arguments", globalRebuildTensor)
	}
	return pyTensor{storage: storage, offset: offset, shape: shape, stride: stride}, nil
}

// integers reads a short tuple of integers.
func integers(v any) ([]int64, bool) {
	t, ok := v.(pyTuple)
	if !ok || len(t) > maxDims {
		return nil, false
	}
	out := make([]int64, len(t))
	for i, x := range t {
		if out[i], ok = x.(int64); !ok {
			return nil, false
		}
	}
	return out, true
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

// need checks that n values can be taken without crossing the last mark.
func (m *machine) need(n int) error {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack)-n < floor {
		return errEmptyStack
	}
	return nil
}

func (m *machine) pop() (any, error) {
	if err := m.need(1); err != nil {
		return nil, err
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// popMark takes the values above the last mark, and the mark.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, errEmptyStack
	}
	height := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	items := append([]any{}, m.stack[height:]...)
	m.stack = m.stack[:height]
	return items, nil
}

func (m *machine) byte() (byte, error) {
	b, err := m.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (m *machine) take(n int) ([]byte, error) {
	if n > len(m.data)-m.pos {
		return nil, errPickleEnds
	}
	b := m.data[m.pos : m.pos+n]
	m.pos += n
	return b, nil
}

// line reads a string that ends in a newline.
func (m *machine) line() (string, error) {
	n := bytes.IndexByte(m.data[m.pos:], '\n')
	if n < 0 {
		return "", errPickleEnds
	}
	b, err := m.take(n + 1)
	if err != nil {
		return "", err
	}
	return string(b[:n]), nil
}
