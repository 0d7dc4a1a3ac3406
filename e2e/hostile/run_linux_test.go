package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// What a run may take. A refusal takes less than a second of the processor and twice the
// file and a bit; what is accepted may work with it for longer. The wall clock is no
// bound on a busy machine, only a run that waits for something that never comes is.
const (
	refusalTime = time.Second
	workTime    = 30 * time.Second
	waitTime    = 60 * time.Second
	memory      = 100 << 20 // beside twice the file
	errorLines  = 1
	errorBytes  = 1100
)

// A trial is one run of the program with a hostile input.
type trial struct {
	family string // a row of the table
	name   string
	args   []string
	file   string // whose size memory is measured by
	memory int64  // more memory that it may take, as for a model that is loaded
	must   bool   // it must be refused
	during func() // what happens to its files meanwhile; may be nil
}

// An outcome is what came of it.
type outcome struct {
	trial
	refused  bool
	cpu      time.Duration
	wall     time.Duration
	resident int64
	stderr   string
	problems []string
}

// dumps are what a program leaves that has crashed.
var dumps = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+|SIG[A-Z]+:|unexpected fault|runtime:)|internal error`)

// internals are names of Go and of its libraries, which mean nothing to a person.
var internals = regexp.MustCompile(`(?m)(?:^|[ (])(?:json|strconv|toml|zip|flate|gzip|sql|io|reflect|utf8|hex|base64)[:.] ?[A-Za-z]|Go (value|struct)|%!|runtime error|0x[0-9a-f]{6,}|bufio\.|\*[a-z]+\.[A-Z]`)

func (t trial) run(bin, home string) outcome {
	out := outcome{trial: t}
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
	defer cancel()
	report, to, err := os.Pipe()
	if err != nil {
		out.fail("no pipe: %v", err)
		return out
	}
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{bin}, t.args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Dir = home
	cmd.ExtraFiles = []*os.File{to}
	cmd.Env = append(os.Environ(), asRunner+"=1", "HOME="+home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "ROOKERY_LIB=", "GOTRACEBACK=single")
	cmd.WaitDelay = time.Second
	start := time.Now()
	err = cmd.Start()
	_ = to.Close()
	if err == nil {
		if t.during != nil {
			go t.during()
		}
		_ = cmd.Wait() // what it has to say is in the report
	}
	out.wall, out.stderr = time.Since(start), stderr.String()
	var used usage
	if err := json.NewDecoder(report).Decode(&used); err != nil && out.wall < waitTime {
		out.fail("there is no report: %v", err)
	}
	_ = report.Close()
	out.refused, out.cpu, out.resident = used.Code != 0 || used.Signal != "", used.CPU, used.Resident
	out.judge(used.Signal)
	return out
}

func (o *outcome) fail(format string, args ...any) {
	o.problems = append(o.problems, fmt.Sprintf(format, args...))
}

func (o *outcome) judge(signal string) {
	limit := workTime
	if o.refused {
		limit = refusalTime
	}
	var size int64
	if info, err := os.Stat(o.file); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	if blocks := storedBytes(o.file); blocks < size {
		size = blocks // a file with holes is as large as what it has
	}
	switch {
	case o.wall >= waitTime:
		o.fail("it does not end")
	case signal != "":
		o.fail("it was ended by %s", signal)
	case !o.refused && o.must:
		o.fail("it was accepted")
	}
	if o.cpu > limit {
		o.fail("%.1f s of the processor; %v are allowed", o.cpu.Seconds(), limit)
	}
	if bound := 2*size + memory + o.memory; o.resident > bound {
		o.fail("%d MB of memory; %d are allowed", o.resident>>20, bound>>20)
	}
	if at := dumps.FindString(o.stderr); at != "" {
		o.fail("it crashed: %s", at)
	}
	if !o.refused {
		return
	}
	lines := strings.Split(strings.TrimRight(o.stderr, "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "rookery: ") {
		o.fail("the last line is no error")
	}
	if len(lines) > errorLines {
		o.fail("%d lines of error", len(lines))
	}
	if len(o.stderr) > errorBytes {
		o.fail("%d bytes of error", len(o.stderr))
	}
	if at := internals.FindString(o.stderr); at != "" {
		o.fail("it says %q, which is Go's", at)
	}
}

// A row of the table is what the runs of a family took at most.
type row struct {
	family        string
	runs, refused int
	failed        int
	cpu           time.Duration
	resident      int64
	lines         int
}

func table(outcomes []outcome) string {
	rows := map[string]*row{}
	var order []string
	for _, o := range outcomes {
		r := rows[o.family]
		if r == nil {
			r = &row{family: o.family}
			rows[o.family], order = r, append(order, o.family)
		}
		r.runs++
		if o.refused {
			r.refused++
			r.lines = max(r.lines, strings.Count(o.stderr, "\n"))
		}
		if len(o.problems) > 0 {
			r.failed++
		}
		r.cpu, r.resident = max(r.cpu, o.cpu), max(r.resident, o.resident)
	}
	slices.Sort(order)
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %5s %8s %6s %9s %8s %6s\n", "inputs", "runs", "refused", "wrong", "most time", "memory", "lines")
	for _, name := range order {
		r := rows[name]
		fmt.Fprintf(&b, "%-34s %5d %8d %6d %7.2f s %5d MB %6d\n", r.family, r.runs, r.refused, r.failed, r.cpu.Seconds(), r.resident>>20, r.lines)
	}
	return b.String()
}

// command writes FILE and DIR into the arguments of a command.
func command(text, file, dir string) []string {
	words := strings.Fields(text)
	for i, w := range words {
		switch {
		case strings.Contains(w, "FILE"):
			words[i] = strings.Replace(w, "FILE", file, 1)
		case strings.HasPrefix(w, "DIR/"):
			words[i] = filepath.Join(dir, w[4:])
		}
	}
	return words
}
