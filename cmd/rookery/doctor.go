package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"rookery/config"
	"rookery/infer/cpu/kernel"
	"rookery/infer/native"
	"rookery/sessions"
	"rookery/ui/theme"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check processor, GPU, terminal, config and data",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.printFacts(cmd.OutOrStdout())
		},
	}
}

// printFacts prints what doctor finds. A problem is one of the facts, not an error.
func (a *app) printFacts(out io.Writer) error {
	w := newTable(out)
	w.fact("rookery", "%s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	w.fact("processors", "%d", runtime.GOMAXPROCS(0))
	w.fact("kernels", "%v in use, of %v", kernel.Best(), kernel.Available())
	describeGPU(w)
	describeTerminal(w)
	c := a.describeConfig(w)
	describeData(w, c.Storage.DataDir)
	return w.Flush()
}

// describeGPU lists the GPUs, or says why none can be used.
func describeGPU(w table) {
	l, err := native.Open()
	if err != nil {
		w.fact("GPU", "not used: %v", err)
		return
	}
	w.fact("GPU library", "%s, version %d of the interface", l.Path(), l.ABI())
	devices, err := l.Devices()
	if err != nil {
		w.fact("GPU", "not used: %v", err)
		return
	}
	for _, d := range devices {
		w.fact(fmt.Sprintf("GPU %d", d.Index), "%s, %s (%s free), compute capability %d.%d, driver for CUDA %s",
			d.Name, bytesText(d.TotalMemory), bytesText(d.FreeMemory), d.Major, d.Minor, d.DriverVersion())
	}
}

func describeTerminal(w table) {
	if !isTerminal(os.Stdout) {
		w.fact("terminal", "standard output is not a terminal")
	} else {
		w.fact("terminal", "TERM=%s, %s colours", os.Getenv("TERM"), colorprofile.Detect(os.Stdout, os.Environ()))
	}
	for _, name := range []string{"NO_COLOR", "ACCESSIBLE", "TMUX", "SSH_TTY", "EDITOR", "VISUAL"} {
		if v := os.Getenv(name); v != "" {
			w.fact("  "+name, "%s", v)
		}
	}
	w.fact("themes", "%s", strings.Join(theme.Names(), ", "))
}

func (a *app) describeConfig(w table) config.Config {
	path := a.configPath
	if path == "" {
		path = config.DefaultPath()
	}
	c, err := a.loadConfig()
	switch _, serr := os.Stat(path); {
	case err != nil:
		w.fact("configuration", "%s: %v", path, err)
	case errors.Is(serr, os.ErrNotExist):
		w.fact("configuration", "%s (not there: the defaults apply)", path)
	default:
		w.fact("configuration", "%s", path)
	}
	if c.Model.Path == "" {
		w.fact("model", "the embedded demonstration model")
	} else {
		w.fact("model", "%s", c.Model.Path)
	}
	return c
}

func describeData(w table, dir string) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		w.fact("data", "%s (not there yet)", dir)
		return
	case err != nil:
		w.fact("data", "%s: %v", dir, err)
		return
	case !info.IsDir():
		w.fact("data", "%s is not a directory: choose another storage.data_dir", dir)
		return
	}
	w.fact("data", "%s", dir)
	if db, err := os.Stat(dir + string(os.PathSeparator) + sessions.File); err == nil {
		w.fact("conversations", "%s", bytesText(db.Size()))
	}
}
