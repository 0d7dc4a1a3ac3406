// Command rookery chats with RWKV language models in the terminal.
//
// Exit codes: 0 done; 1 failed; 2 wrong usage; 3 the model cannot be loaded;
// 4 the stored conversations cannot be used; 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"rookery/chat/library"
	"rookery/untrusted"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rookery/ui/terminal"
)

// version is set by the linker.
var version = "dev"

// Exit codes, as documented above and in docs/cli.md.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitModel       = 3
	exitStore       = 4
	exitInterrupted = 130
)

// An exitError carries the exit code of an error.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exitWith gives an error an exit code; nil stays nil.
func exitWith(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

func main() {
	os.Exit(runArgs(os.Args[1:]))
}

// runArgs runs the command line and returns the exit code.
func runArgs(args []string) int {
	signals := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP) // the terminal is gone, but what runs must be saved
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	a := new(app)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go a.awaitInterrupt(ctx, cancel)
	root := newRoot(a)
	root.SetArgs(args)
	err := fang.Execute(ctx, root, fang.WithVersion(version), fang.WithErrorHandler(printError))
	return exitCode(err)
}

// awaitInterrupt ends the program at ctrl+c, unless someone else takes it.
func (a *app) awaitInterrupt(ctx context.Context, end func()) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	for {
		select {
		case <-interrupts:
			if !a.takesInterrupts.Load() {
				end()
			}
		case <-ctx.Done():
			return
		}
	}
}

// longestError is how many characters of an error are printed.
const longestError = 1000

// printError writes one line to standard error. Names of files and what files say
// stand in it.
func printError(w io.Writer, _ fang.Styles, err error) {
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, context.Canceled) {
		text := strings.ReplaceAll(strings.TrimSpace(untrusted.Message(err)), "\n", "; ")
		_, _ = fmt.Fprintf(w, "rookery: %s\n", terminal.Line(text, longestError))
	}
}

// cleanOutput cleans what a command prints, if it prints to a terminal. To a file or a
// pipe the bytes go as they are.
func cleanOutput(cmd *cobra.Command, _ []string) {
	cmd.SetOut(cleaned(cmd.OutOrStdout()))
}

// cleaned is an output that cleans what goes to a terminal.
func cleaned(out io.Writer) io.Writer {
	if isTerminal(out) {
		return terminal.NewWriter(out)
	}
	return out
}

func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader of a pipe has gone, which is no error
		return 0
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &e):
		return e.code
	default:
		return exitFailed
	}
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "rookery",
		Short: "Chat with RWKV models in the terminal",
		Long: "Chat with RWKV language models on your own machine.\n\n" +
			"Without a command, rookery opens the chat with the conversations that were open last time.",
		Example: "rookery\nrookery --model rwkv7-g1-0.4b.pth\necho 'Tell me a story.' | rookery run",
		Args:    usageArgs(cobra.NoArgs),
		RunE:    a.runChat,
	}
	root.PersistentPreRun = cleanOutput
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exitWith(exitUsage, flagError(cmd, err)) })
	a.globalFlags(root.PersistentFlags())
	a.chatAllFlags(root.Flags())
	root.AddCommand(a.chatCommand(), a.runCommand(), a.logitsCommand(), a.modelsCommand(), a.sessionsCommand(), a.statesCommand(), a.adaptersCommand(), a.benchCommand(), a.compareCommand(), a.doctorCommand())
	refuseWords(root)
	return root
}

// usageArgs makes wrong arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err != nil && check(cmd, nil) == nil && check(cmd, args[:1]) != nil { // it takes no words
			err = wordError(cmd, args[0])
		}
		return exitWith(exitUsage, err)
	}
}

// wordError says which command was meant by a word, or that none takes its place.
func wordError(cmd *cobra.Command, word string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s does not take the word %q: `%[1]s --help` lists what it takes", cmd.CommandPath(), word)
	}
	return &library.NameError{What: "command", Name: word, Have: names}
}

// flagError adds the nearest flag to what is wrong with one that there is not.
func flagError(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return &library.NameError{What: "flag", Name: "--" + name, Have: names}
}

// refuseWords lets commands that only have others below them refuse a wrong word,
// for which they would print their help and report success.
func refuseWords(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		refuseWords(sub)
	}
	if !cmd.HasSubCommands() || cmd.Runnable() {
		return
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return exitWith(exitUsage, wordError(cmd, args[0]))
		}
		return cmd.Help()
	}
}

// onlyOneFlag allows only one of the flags.
func onlyOneFlag(check cobra.PositionalArgs, flags ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		var given []string
		for _, name := range flags {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return exitWith(exitUsage, fmt.Errorf("%s: choose one", strings.Join(given, " and ")))
		}
		return check(cmd, args)
	}
}
