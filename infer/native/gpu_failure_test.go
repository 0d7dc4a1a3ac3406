//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"rookery/infer"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
)

// A model that does not fit is refused with what is needed and what there is,
// and leaves the card's memory as it was. Where only the slots do not fit, there
// are fewer.
func TestGPUMemory(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	free := func() int64 {
		d, err := l.Devices()
		if err != nil {
			t.Fatal(err)
		}
		return d[0].FreeMemory
	}
	m.onGPU(t, l, Options{Slots: 4}) // what the first engine takes for good
	before := free()
	huge := rwkv.Shape{
		Version: rwkv.V7, Layers: 400, Embed: 8192, Heads: 128, HeadSize: 64, FFN: 32768, Vocab: 65536,
		Ranks: rwkv.Ranks{256, 256, 128, 512},
	}
	_, err := l.Generate(t.Context(), huge, func(string, []float32, int) error { return errors.New("asked for weights") }, Options{})
	var e *Error
	if !errors.As(err, &e) || !e.Memory {
		t.Fatalf("got %v, want an error about memory", err)
	}
	wantError(t, err, "the weights need", "MiB", "smaller model")
	t.Log(err)
	if d := before - free(); d > 64<<20 {
		t.Errorf("%d bytes are gone", d)
	}
	all := m.onGPU(t, l, Options{Slots: mostSlots}) // which fit on the empty card
	takes := all.Memory()
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if all.Slots() != mostSlots {
		t.Skipf("%d slots of %d on the empty card", all.Slots(), mostSlots)
	}
	left := (takes.Weights + takes.States + takes.Scratch) * 2 / 5
	openDriver(t).take(t, free()-left)
	b := m.onGPU(t, l, Options{Slots: mostSlots})
	if b.Slots() < 64 || b.Slots() >= mostSlots {
		t.Errorf("%d slots of %d asked for", b.Slots(), mostSlots)
	}
	t.Logf("where %d MiB are left of what %d slots take there are %d", left>>20, mostSlots, b.Slots())
	step(t, b, infer.Row{Slot: infer.Slot(b.Slots() - 1), Tokens: []int32{1, 2, 3}})
}

// The fault in TestGPULost ends all that a process can do with the card, so
// that it has one of its own.
const lostProcess = "ROOKERY_TEST_LOSE_GPU"

// When the card fails in the middle, answers end with an error that says so, and
// with snapshots that the processor goes on from.
func TestGPULost(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	if os.Getenv(lostProcess) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGPULost$", "-test.v")
		cmd.Env = append(os.Environ(), lostProcess+"=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		step(t, m.onGPU(t, l, Options{Slots: 2}), infer.Row{Tokens: []int32{1, 2, 3}}) // other processes have the card as before
		return
	}
	e := m.engine(t, m.onGPU(t, l, Options{Slots: 8}))
	r := infer.Request{Tokens: m.model.Tokenizer.Encode(nil, story), Sampling: sampler.Params{Temperature: 1, TopP: 0.9, Seed: 3, Ban: []int32{0}}}
	before := finish(t, submit(t, e, with(r, 20)))
	endless := submit(t, e, with(r, 1<<20))
	for endless.Progress().Generated < 10 {
		time.Sleep(time.Millisecond)
	}
	failGPU(t)
	end := finish(t, endless)
	var lost *LostError
	if end.Reason != infer.ReasonError || !errors.As(end.Err, &lost) {
		t.Fatalf("ended with %v, %v", end.Reason, end.Err)
	}
	t.Log(end.Err)
	if late := finish(t, submit(t, e, with(r, 5))); late.Err == nil {
		t.Error("a request on a lost device succeeded")
	}
	cpu := m.engine(t, m.onCPU(t, "fp16"))
	for _, s := range []*infer.Snapshot{before.Snapshot, end.Snapshot} {
		on := finish(t, submit(t, cpu, infer.Request{From: s, Sampling: r.Sampling, MaxTokens: 10}))
		if on.Err != nil || len(on.Tokens) != 10 {
			t.Errorf("on the processor: %v, %v", on.Tokens, on.Err)
		}
	}
	if n := min(len(before.Tokens), len(end.Tokens)); !slices.Equal(end.Tokens[:n], before.Tokens[:n]) {
		t.Error("the same request had other tokens")
	}
}

// engine runs a backend until the end of the test.
func (m embedded) engine(t *testing.T, b infer.Backend) *infer.Engine {
	t.Helper()
	e := infer.NewEngine(m.model, b, infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func with(r infer.Request, tokens int) infer.Request {
	r.MaxTokens = tokens
	return r
}

// faultCode is a kernel that stops at once: in the words of the driver, a launch
// failure, after which its context is of no use. The card itself is not harmed.
const faultCode = `.version 7.0
.target sm_70
.address_size 64
.visible .entry fault() { trap; }
`

// failGPU runs the fault in the context that the library uses.
func failGPU(t *testing.T) {
	t.Helper()
	d := openDriver(t)
	var module, function uintptr
	image := append([]byte(faultCode), 0)
	d.must(t, d.load(&module, unsafe.SliceData(image)))
	d.must(t, d.get(&function, module, "fault"))
	d.must(t, d.launch(function, 1, 1, 1, 1, 1, 1, 0, 0, nil, nil))
	if d.wait() == 0 {
		t.Fatal("the fault was none")
	}
}

// A driver is the device's own, in the context that the library uses.
type driver struct {
	retain   func(context *uintptr, device int32) int32
	enter    func(context uintptr) int32
	load     func(module *uintptr, image *byte) int32
	get      func(function *uintptr, module uintptr, name string) int32
	launch   func(function uintptr, x, y, z, bx, by, bz, shared uint32, stream uintptr, args, more unsafe.Pointer) int32
	wait     func() int32
	allocate func(p *uintptr, bytes uintptr) int32
	free     func(p uintptr) int32
}

// openDriver enters the context on this thread, until the end of the test.
func openDriver(t *testing.T) *driver {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	library, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		t.Skip(err)
	}
	d := new(driver)
	for name, f := range map[string]any{
		"cuDevicePrimaryCtxRetain": &d.retain, "cuCtxSetCurrent": &d.enter, "cuModuleLoadData": &d.load,
		"cuModuleGetFunction": &d.get, "cuLaunchKernel": &d.launch, "cuCtxSynchronize": &d.wait,
		"cuMemAlloc_v2": &d.allocate, "cuMemFree_v2": &d.free,
	} {
		purego.RegisterLibFunc(f, library, name)
	}
	var context uintptr
	d.must(t, d.retain(&context, 0))
	d.must(t, d.enter(context))
	return d
}

func (d *driver) must(t *testing.T, status int32) {
	t.Helper()
	if status != 0 {
		t.Fatalf("the driver says %d", status)
	}
}

// take takes memory until the end of the test.
func (d *driver) take(t *testing.T, bytes int64) {
	t.Helper()
	var p uintptr
	d.must(t, d.allocate(&p, uintptr(bytes)))
	t.Cleanup(func() { d.must(t, d.free(p)) })
}
