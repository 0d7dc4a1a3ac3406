package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

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
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) // reported by Flush
	}
	row("rookery", "%s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	row("processors", "%d", runtime.GOMAXPROCS(0))
	row("kernels", "%v in use, of %v", kernel.Best(), kernel.Available())
	describeGPU(row)
	describeTerminal(row)
	c := a.describeConfig(row)
	describeData(row, c.Storage.DataDir)
	return w.Flush()
}

// describeGPU lists the GPUs, or says why none can be used.
func describeGPU(row func(name, format string, args ...any)) {
	l, err := native.Open()
	if err != nil {
		row("GPU", "not used: %v", err)
		return
	}
	row("GPU library", "%s, version %d of the interface", l.Path(), l.ABI())
	devices, err := l.Devices()
	if err != nil {
		row("GPU", "not used: %v", err)
		return
	}
	for _, d := range devices {
		row(fmt.Sprintf("GPU %d", d.Index), "%s, %s (%s free), compute capability %d.%d, driver for CUDA %s",
			d.Name, bytesText(d.TotalMemory), bytesText(d.FreeMemory), d.Major, d.Minor, d.DriverVersion())
	}
}

func describeTerminal(row func(name, format string, args ...any)) {
	if !isTerminal(os.Stdout) {
		row("terminal", "standard output is not a terminal")
	} else {
		row("terminal", "TERM=%s, %s colours", os.Getenv("TERM"), colorprofile.Detect(os.Stdout, os.Environ()))
	}
	for _, name := range []string{"NO_COLOR", "ACCESSIBLE", "TMUX", "SSH_TTY", "EDITOR", "VISUAL"} {
		if v := os.Getenv(name); v != "" {
			row("  "+name, "%s", v)
		}
	}
	row("themes", "%s", strings.Join(theme.Names(), ", "))
}

func (a *app) describeConfig(row func(name, format string, args ...any)) config.Config {
	path := a.configPath
	if path == "" {
		path = config.DefaultPath()
	}
	c, err := a.loadConfig()
	switch _, serr := os.Stat(path); {
	case err != nil:
		row("configuration", "%s: %v", path, err)
	case errors.Is(serr, os.ErrNotExist):
		row("configuration", "%s (not there: the defaults apply)", path)
	default:
		row("configuration", "%s", path)
	}
	if c.Model.Path == "" {
		row("model", "the embedded demonstration model")
	} else {
		row("model", "%s", c.Model.Path)
	}
	return c
}

func describeData(row func(name, format string, args ...any), dir string) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		row("data", "%s (not there yet)", dir)
		return
	case err != nil:
		row("data", "%s: %v", dir, err)
		return
	case !info.IsDir():
		row("data", "%s is not a directory: choose another storage.data_dir", dir)
		return
	}
	row("data", "%s", dir)
	if db, err := os.Stat(dir + string(os.PathSeparator) + sessions.File); err == nil {
		row("conversations", "%s", bytesText(db.Size()))
	}
}
