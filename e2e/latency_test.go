//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLatency measures how long a key takes to show while many tabs generate: from
// writing the byte to the terminal until the program draws the character.
// ROOKERY_LATENCY gives the number of tabs, the limit for 95 of 100 keys, and the
// arguments of the program: "32 16ms --backend cuda".
func TestLatency(t *testing.T) {
	bin := program(t)
	wanted := strings.Fields(os.Getenv("ROOKERY_LATENCY"))
	if len(wanted) < 2 {
		t.Skip("skipped: ROOKERY_LATENCY does not say what to measure; run `make test-cuda`")
	}
	tabs, err := strconv.Atoi(wanted[0])
	if err != nil {
		t.Fatal(err)
	}
	limit, err := time.ParseDuration(wanted[1])
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	configureEndlessAnswers(t, home)
	p := openPTY(t, bin, home, wanted[2:])
	p.see(composerHint, patience)
	for i := range tabs {
		if i > 0 {
			p.slowly("\x14") // ctrl+t
		}
		p.slowly(fmt.Sprintf("Tell me a story about %d cats.", i))
		p.slowly("\r")
	}
	p.mark()
	p.resize(161, 50) // all of the screen is drawn again
	p.see(fmt.Sprintf("rows %d of", tabs), patience)

	before := p.count()
	var took []time.Duration
	for i := range 300 {
		key := string(rune('А' + i%32)) // nothing that the model writes
		p.mark()
		start := time.Now()
		p.write(key)
		p.see(key, patience)
		took = append(took, time.Since(start))
		time.Sleep(time.Duration(7+i%23) * time.Millisecond) // keys come at all phases of a frame
	}
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[min(len(took)*percent/100, len(took)-1)] }
	t.Logf("%d tabs generate (%d bytes to the screen meanwhile); key to screen: median %v, 95 %% within %v, 99 %% %v, the slowest %v",
		tabs, p.count()-before, at(50), at(95), at(99), at(100))
	if at(95) > limit {
		t.Errorf("95 %% of keys took up to %v, more than %v", at(95), limit)
	}
	p.write("\x11") // ctrl+q
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A pty is the program in a terminal that only collects its output.
type pty struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu   sync.Mutex
	seen []byte // since the mark
	all  int
	more chan struct{}
}

func openPTY(t *testing.T, bin, home string, args []string) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() }) // the reader ends with it
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, master: master, more: make(chan struct{}, 1), cmd: exec.CommandContext(t.Context(), bin, args...)}
	p.resize(160, 50)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color", "HOME="+home, "XDG_DATA_HOME="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"))
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	go p.collect()
	return p
}

// collect reads the program's output until it ends.
func (p *pty) collect() {
	buf := make([]byte, 1<<16)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.seen = append(p.seen, buf[:n]...)
		p.all += n
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (p *pty) write(s string) {
	p.t.Helper()
	if _, err := p.master.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

// slowly writes and waits until the program has acted on it.
func (p *pty) slowly(s string) {
	p.t.Helper()
	p.write(s)
	time.Sleep(200 * time.Millisecond)
}

func (p *pty) resize(width, height uint16) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		p.t.Fatal(err)
	}
}

// mark drops the output so far.
func (p *pty) mark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = p.seen[:0]
}

func (p *pty) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// style matches sequences that set colours.
var style = regexp.MustCompile("\x1b\\[[0-9;]*m")

// see waits until the output since the mark has a text.
func (p *pty) see(text string, within time.Duration) {
	p.t.Helper()
	late := time.After(within)
	for {
		p.mu.Lock()
		found := bytes.Contains(style.ReplaceAll(p.seen, nil), []byte(text))
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-p.more:
		case <-late:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.t.Fatalf("%q was not shown; the end of what was: %q", text, p.seen[max(len(p.seen)-2000, 0):])
		}
	}
}
