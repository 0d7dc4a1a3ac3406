package hostile

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// asRunner makes the test a process that runs the program and says what it used. The
// system counts the memory of who starts a process as the process's own, and the test
// itself holds much.
const asRunner = "ROOKERY_HOSTILE_RUNNER"

// A usage is what an ended process used.
type usage struct {
	Code     int
	Signal   string
	CPU      time.Duration
	Resident int64 // at most, in bytes
}

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // the program dies with the thread that has started it
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	_ = cmd.Run() // how it ended is in its state
	used := usage{CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), Code: cmd.ProcessState.ExitCode()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		used.Signal = status.Signal().String()
	}
	if rusage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		used.Resident = rusage.Maxrss << 10
	}
	if err := json.NewEncoder(os.NewFile(3, "report")).Encode(used); err != nil {
		os.Exit(1)
	}
}

// storedBytes is what a file takes on the disk.
func storedBytes(path string) int64 {
	var info syscall.Stat_t
	if syscall.Stat(path, &info) != nil {
		return 0
	}
	return info.Blocks * 512
}
