package native

import "unsafe"

// The C interface of cuda/rookery.h as Go sees it. The names are those of the
// header; what is not used here has none. A test compares layouts and numbers
// with it.

const abiVersion = 7

// status is what every function that can fail returns.
type status int32

const (
	statusOK       status = 0
	statusArgument status = 1
	statusMemory   status = 2
	statusDevice   status = 3
	statusTensor   status = 4
	statusLibrary  status = 5
)

const (
	typeF32  int32 = 0
	typeF16  int32 = 1
	typeBF16 int32 = 2
)

const (
	rowDraw    uint32 = 1
	rowObserve uint32 = 2
	rowLogits  uint32 = 4

	resultNaN uint32 = 1
)

// topMax is how many candidates a row can ask for, bansMax how many banned
// tokens a step can have, membersMax how many rows can be mixed with one,
// rankMax the rank that an adapter can have.
const (
	topMax     = 256
	bansMax    = 262144
	membersMax = 63
	rankMax    = 1024
)

// handle is an engine of the library; 0 is none.
type handle uintptr

type device struct {
	name            [64]byte
	memoryTotal     int64
	memoryFree      int64
	l2Bytes         int64
	multiprocessors int32
	major, minor    int32
	driver          int32
}

type peaks struct {
	copy, matrix, upload float64
}

type shape struct {
	version, layers, embed, heads, headSize, ffn, vocab int32

	ranks [4]int32
}

type options struct {
	device     int32
	weights    int32
	state      int32
	slots      int32
	maxRows    int32
	maxTokens  int32
	tokenLimit int32
	_          uint32
	tuning     *byte // NUL-terminated
}

type row struct {
	slot        int32
	tokenOffset int32
	tokenCount  int32
	flags       uint32
	top         int32
	banOffset   int32
	banCount    int32
	mode        int32
	temperature float32
	topK        int32
	topP        float32
	presence    float32
	frequency   float32
	decay       float32
	members     int32
	weight      float32
	adapter     int32
	_           int32
	seed        uint64
	draw        uint64
}

type result struct {
	token      int32
	logProb    float32
	candidates int32
	flags      uint32
	ownLogProb float32
}

type candidate struct {
	token   int32
	logProb float32
	prob    float32
}

type count struct {
	token    int32
	n, first float32
}

type memory struct {
	weights, states, scratch, _ int64
}

type timing struct {
	device, submit, wait float64 // milliseconds
	_                    [2]int64
	_                    [2]int32
	bucket, _            int32
}

// An api is the library's functions.
type api struct {
	version     func() int32
	lastError   func(dst *byte, size int32) int32
	deviceCount func(count *int32) status
	deviceInfo  func(index int32, info *device) status
	devicePeaks func(index int32, p *peaks) status

	open  func(s *shape, o *options, e *handle) status
	load  func(e handle, name string, dtype int32, dims *int64, ndim int32, data unsafe.Pointer, bytes int64) status
	ready func(e handle) status
	tune  func(e handle, seconds float64) status
	close func(e handle) status

	step       func(e handle, rows *row, n int32, tokens *int32, nTokens int32, bans *int32, nBans int32, results *result, candidates *candidate) status
	readLogits func(e handle, row int32, dst *float32) status

	newAdapter   func(e handle, id *int32) status
	setDelta     func(e handle, id, layer, target, rank int32, down, up, gain, blocks *float32, size int32) status
	dropAdapter  func(e handle, id int32) status
	adapterBytes func(e handle, id int32, bytes *int64) status

	readSlot   func(e handle, slot int32, dst *float32) status
	readBeside func(e handle, slot int32, dst *float32) status
	writeSlot  func(e handle, slot int32, src *float32) status
	copySlot   func(e handle, dst, src int32) status
	zeroSlot   func(e handle, slot int32) status

	setCounts func(e handle, slot int32, counts *count, n int32) status
	setExempt func(e handle, tokens *int32, n int32) status

	memory func(e handle, m *memory) status
	timing func(e handle, t *timing) status
}

// A symbol is a name that the library exports and the function it becomes.
type symbol struct {
	name string
	fn   any // pointer to a field of an api
}

// symbols are all but rk_abi_version, which is looked at before the others.
func (a *api) symbols() []symbol {
	return []symbol{
		{"rk_last_error", &a.lastError},
		{"rk_device_count", &a.deviceCount},
		{"rk_device_info", &a.deviceInfo},
		{"rk_device_peaks", &a.devicePeaks},
		{"rk_open", &a.open},
		{"rk_load", &a.load},
		{"rk_ready", &a.ready},
		{"rk_tune", &a.tune},
		{"rk_close", &a.close},
		{"rk_step", &a.step},
		{"rk_read_logits", &a.readLogits},
		{"rk_new_adapter", &a.newAdapter},
		{"rk_set_delta", &a.setDelta},
		{"rk_drop_adapter", &a.dropAdapter},
		{"rk_adapter_bytes", &a.adapterBytes},
		{"rk_read_slot", &a.readSlot},
		{"rk_read_slot_beside", &a.readBeside},
		{"rk_write_slot", &a.writeSlot},
		{"rk_copy_slot", &a.copySlot},
		{"rk_zero_slot", &a.zeroSlot},
		{"rk_set_counts", &a.setCounts},
		{"rk_set_exempt", &a.setExempt},
		{"rk_memory_info", &a.memory},
		{"rk_timing_info", &a.timing},
	}
}
