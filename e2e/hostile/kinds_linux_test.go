package hostile

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A maker makes hostile files.
type maker struct {
	t    *testing.T
	bin  string
	dir  string
	made int
}

// path is a new path.
func (x *maker) path(name string) string {
	x.made++
	dir := filepath.Join(x.dir, "f"+strconv.Itoa(x.made))
	x.check(os.Mkdir(dir, 0o700))
	return filepath.Join(dir, name)
}

// file is a new file.
func (x *maker) file(name string, data []byte) string {
	path := x.path(name)
	x.check(os.WriteFile(path, data, 0o600))
	return path
}

// sparse is a new file that begins with data and has holes up to a size.
func (x *maker) sparse(name string, data []byte, size int64) string {
	path := x.file(name, data)
	x.check(os.Truncate(path, size))
	return path
}

func (x *maker) check(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// rookery runs the program to make a good file.
func (x *maker) rookery(stdin string, args ...string) {
	x.t.Helper()
	cmd := exec.Command(x.bin, args...)
	cmd.Env = append(os.Environ(), "HOME="+x.dir, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "ROOKERY_LIB=")
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("rookery %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// readers are all commands that read a file which a person names.
var readers = []string{
	"models inspect FILE",
	"models convert FILE -o DIR/out.safetensors",
	"run --backend cpu -n 1 --model FILE hi",
	"run --backend cpu -n 1 --vocab FILE hi",
	"run --backend cpu -n 1 --adapter FILE hi",
	"run --backend cpu -n 1 --config FILE hi",
	"run --backend cpu -n 1 --grammar FILE hi",
	"run --backend cpu -n 1 --json-schema FILE hi",
	"adapters inspect FILE",
	"adapters check FILE --backend cpu",
	"states import FILE",
	"states bake --backend cpu --name x FILE --data-dir DIR/bake",
	"sessions import FILE --data-dir DIR/import",
	"sessions import --dry-run FILE",
	"sessions ls --data-dir FILE",
	"compare --backend cpu -n 1 --prompts FILE --variant a:",
	"compare --backend cpu -n 1 --prompts FILE --variants FILE",
	"compare --backend cpu -n 1 --prompts ok.txt --variants FILE",
	"doctor --config FILE",
}

// kinds gives every command that reads a file every kind of file there is.
func (x *maker) kinds() []trial {
	fifo, loop, dangling, socket := x.path("fifo"), x.path("loop"), x.path("dangling"), x.path("socket")
	x.check(syscall.Mkfifo(fifo, 0o600))
	x.check(os.Symlink(loop, loop))
	x.check(os.Symlink(x.path("nothing"), dangling))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	x.check(err)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: socket}); err != nil {
		socket = fifo // the temporary directory has too long a name for sockets
	}
	noise := make([]byte, 4096)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(noise)
	var out []trial
	for _, kind := range []struct {
		name, path string
		must       bool // no command accepts it
	}{
		{"a pipe", fifo, true},
		{"a device without an end", "/dev/zero", true},
		{"a directory", x.dir, false},
		{"a socket", socket, true},
		{"a link to itself", loop, true},
		{"a link to nothing", dangling, false},
		{"a path through a file", filepath.Join(x.file("file", nil), "x"), true},
		{"a name of 300 letters", filepath.Join(x.dir, strings.Repeat("x", 300)), false},
		{"a name of 100,000 letters", strings.Repeat("x/", 50_000), false},
		{"a name of two lines", x.path("a\nb\x1b[31m"), false},
		{"no name", "", false},
		{"400 GB of holes", x.sparse("holes", nil, 400<<30), false},
		{"400 GB of a model", x.sparse("holes.safetensors", []byte("\x40\x00\x00\x00\x00\x00\x00\x00{"), 400<<30), false},
		{"400 GB of a zip", x.sparse("holes.pth", []byte("PK\x03\x04"), 400<<30), false},
		{"400 GB of GGUF", x.sparse("holes.gguf", []byte("GGUF\x03\x00\x00\x00"), 400<<30), false},
		{"empty", x.file("empty", nil), false},
		{"noise", x.file("noise", noise), false},
		{"noise.pth", x.file("noise.pth", append([]byte("PK\x03\x04"), noise...)), false},
		{"noise.toml", x.file("noise.toml", noise), false},
		{"a text", x.file("text.txt", bytes.Repeat([]byte("Hello, rook. "), 20)), false},
		{"a line of 1 MB", x.file("line.txt", bytes.Repeat([]byte("a"), 1<<20)), false},
		{"a memory file", "/proc/self/mem", false},
	} {
		for _, reader := range readers {
			if kind.name == "a line of 1 MB" && (strings.Contains(reader, "bake") || strings.Contains(reader, "--prompts FILE")) {
				continue // half a million tokens are read, rightly
			}
			dir := filepath.Dir(x.path("x"))
			x.check(os.WriteFile(filepath.Join(dir, "ok.txt"), []byte("hi\n"), 0o600))
			args := command(strings.Replace(reader, "ok.txt", filepath.Join(dir, "ok.txt"), 1), kind.path, dir)
			t := trial{family: "kind: " + kind.name, name: reader, args: args, file: kind.path, must: kind.must, memory: 100 << 20}
			if strings.Contains(reader, "--data-dir FILE") || strings.HasPrefix(reader, "doctor") { // a missing store is no error, and the doctor reports
				t.must = false
			}
			out = append(out, t)
		}
	}
	return out
}
