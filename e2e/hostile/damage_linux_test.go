package hostile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bundles are bundles that unpack to far more than they are.
func (x *maker) bundles() (out []trial) {
	imports := []string{"sessions import --dry-run FILE", "sessions import FILE --data-dir DIR/data"}
	blanks := bytes.Repeat([]byte(" "), 64<<20)
	for name, files := range map[string]map[string][]byte{
		"blanks":           {"rookery.json": append(bytes.Clone(blanks), '{')},
		"blanks inside":    {"rookery.json": append([]byte(`{"format":"rookery-bundle","conversations":[`), blanks...)},
		"nesting":          {"rookery.json": bytes.Repeat([]byte("["), 64<<20)},
		"a string":         {"rookery.json": append([]byte(`{"format":"`), bytes.Repeat([]byte("x"), 64<<20)...)},
		"no manifest":      {"other": nil},
		"a state of holes": {"rookery.json": []byte(`{"format":"rookery-bundle","version":1}`), "states/1": blanks},
	} {
		out = append(out, x.each("bundles", name, x.file("b.rookery", archive(files, zip.Deflate)), !strings.HasPrefix(name, "a state"), imports...)...)
	}
	return out
}

// good are files that the program reads, and the commands that read them.
func (x *maker) good() map[string][]string {
	dir := x.dir
	x.rookery("Once upon a time.", "states", "bake", "-", "--name", "once", "--backend", "cpu", "--data-dir", dir)
	state := filepath.Join(dir, "once.rkstate")
	x.rookery("", "states", "export", "once", "-o", state, "--data-dir", dir)
	chat := x.file("chat.json", []byte(`[{"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"},{"from":"human","value":"Why?"},{"from":"gpt","value":"Because."}]}]`))
	x.rookery("", "sessions", "import", chat, "--data-dir", dir)
	bundle := filepath.Join(dir, "all.rookery")
	x.rookery("", "sessions", "export", "all", "--format", "bundle", "-o", bundle, "--data-dir", dir)
	config := x.file("config.toml", []byte("[chat]\nsystem = \"You are a rook.\"\nmax_tokens = 10\n[sampling]\ntemperature = 1.5\n[presets.mine]\ntop_p = 0.5\n[keys]\nquit = [\"ctrl+q\"]\n"))
	variants := x.file("variants.toml", []byte("[[variant]]\nname = \"a\"\ntemp = 0.5\n[[variant]]\nname = \"b\"\nmix = \"own=1\"\n"))
	testdata := "../../infer/checkpoint/testdata/"
	weights := []string{"models inspect FILE", "run --backend cpu -n 1 --model FILE hi", "adapters inspect FILE"}
	good := map[string][]string{
		chat:     {"sessions import --dry-run FILE"},
		bundle:   {"sessions import --dry-run FILE", "sessions import FILE --data-dir DIR/data"},
		state:    {"states import FILE --data-dir DIR/data"},
		config:   {"run --backend cpu -n 1 --config FILE hi"},
		variants: {"compare --backend cpu -n 1 --prompts ok.txt --variants FILE"},
	}
	for _, name := range []string{"model.safetensors", "model.pth", "model.gguf", "nested.pth"} {
		good[testdata+name] = weights
	}
	return good
}

// damaged are good files with random damage, the same in every run.
func (x *maker) damaged() (out []trial) {
	r := rand.New(rand.NewPCG(18, 18))
	for path, commands := range sorted(x.good()) {
		data, err := os.ReadFile(path)
		x.check(err)
		for i := range 14 {
			bad := damage(r, data)
			c := commands[i%len(commands)]
			bytes := x.file(filepath.Base(path), bad)
			out = append(out, x.each("damaged: "+filepath.Ext(path), fmt.Sprint("damage ", i), bytes, false, c)...)
		}
	}
	return out
}

// damage changes bytes, cuts, repeats, moves or replaces numbers, mostly near the
// beginning, where headers are.
func damage(r *rand.Rand, good []byte) []byte {
	data := bytes.Clone(good)
	for range 1 + r.IntN(4) {
		if len(data) == 0 {
			return data
		}
		at := r.IntN(len(data))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(data), 512))
		}
		n := min(1+r.IntN(64), len(data)-at)
		switch r.IntN(6) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data = data[:at]
		case 2:
			data = append(data[:at+n:at+n], data[at:]...)
		case 3:
			data = append(data[:at:at], data[at+n:]...)
		case 4:
			if at+8 <= len(data) {
				binary.LittleEndian.PutUint64(data[at:], []uint64{0, 1, 1 << 31, 1 << 62, ^uint64(0)}[r.IntN(5)])
			}
		case 5:
			copy(data[at:], strings.Repeat(string("0[{\"\x00\xff9-"[r.IntN(8)]), n))
		}
	}
	return data
}

// databases are those that something else has written to.
func (x *maker) databases() (out []trial) {
	chat := x.file("chat.json", []byte(`[{"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]}]`))
	dir := x.path("data")
	x.rookery("", "sessions", "import", chat, "--data-dir", dir)
	found, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(found) != 1 {
		x.t.Fatalf("databases %v, %v", found, err)
	}
	good, err := os.ReadFile(found[0])
	x.check(err)
	r := rand.New(rand.NewPCG(1, 18))
	commands := []string{"sessions ls", "sessions check", "sessions search Hi", "sessions export all", "doctor"}
	try := func(name string, data []byte, must bool) {
		for _, c := range commands {
			dir := x.path("data")
			x.check(os.Mkdir(dir, 0o700))
			file := filepath.Join(dir, filepath.Base(found[0]))
			x.check(os.WriteFile(file, data, 0o600))
			t := trial{family: "databases", name: name + ": " + c, args: append(strings.Fields(c), "--data-dir", dir), file: file, must: must && c != "doctor", memory: 100 << 20}
			out = append(out, t)
		}
	}
	version := func(v uint32) []byte {
		data := bytes.Clone(good)
		binary.BigEndian.PutUint32(data[60:], v)
		return data
	}
	try("version -1", version(^uint32(0)), true)
	try("version -2147483648", version(1<<31), true)
	try("version 1000000", version(1_000_000), true)
	try("cut", good[:len(good)/2], false)
	try("header only", good[:100], false)
	try("noise", append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte{0xa5}, 4096)...), true)
	for i := range 12 {
		try(fmt.Sprint("damage ", i), damage(r, good), false)
	}
	return out
}

// sorted goes through a map in the order of its keys.
func sorted[V any](m map[string]V) func(yield func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
