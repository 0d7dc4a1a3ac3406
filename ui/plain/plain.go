package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"rookery/chat"
	"rookery/chat/persona"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/ui/composer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
	"rookery/ui/terminal"
	"rookery/untrusted"
)

// Options are what the interface runs on. A nil function cannot be used.
type Options struct {
	Workspace *chat.Workspace
	Dialogue  *chat.Dialogue  // the conversation to begin with
	Features  []kit.Feature   // their commands work here
	Presets   []prompt.Preset // of sampling, the person's own
	Version   string
	Personas  persona.Library

	// These block.
	Models       func(context.Context) ([]kit.ModelFile, error)
	Surroundings func() panel.Surroundings
	SaveSampling func(name string, p sampler.Params) error

	In  io.Reader // standard input if nil
	Out io.Writer // standard output if nil
}

// A console talks with the person, line by line.
type console struct {
	ctx       context.Context
	options   Options
	workspace *chat.Workspace
	model     *infer.Model
	presets   []prompt.Preset                // the person's own
	own       map[keys.ID]func(string) error // commands of this interface alone
	out       io.Writer
	clean     terminal.Cleaner // of all that is written
	wrote     error            // the first error of out

	d           *chat.Dialogue
	draft       []string // lines that ended with a backslash
	queue       []string // what was written while an answer was running
	answer      spoken
	reading     rereading
	failure     string // the error that was last told
	trouble     string // of the store, as it was last told
	ended       bool   // standard input has
	asked       bool   // "You: " is waiting for a line
	inside      bool   // the line that is being written is the answer's
	lastDeleted turn.ID
	doubted     time.Time // when quitting was last half asked for

	// choosing is set while several answers are generated, which are read out
	// when all have ended.
	choosing bool
	blind    bool      // they are read out without their names
	hidden   []turn.ID // of those whose names were not told, in that order
}

// Run talks until the input ends, the person leaves, or ctx ends.
func Run(ctx context.Context, o Options) error {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	c := newConsole(ctx, o)
	c.welcome(o.Version)
	return c.loop(readLines(ctx, o.In), interrupts)
}

func newConsole(ctx context.Context, o Options) *console {
	c := &console{ctx: ctx, options: o, workspace: o.Workspace, model: o.Workspace.Engine().Model(), presets: o.Presets, d: o.Dialogue, out: o.Out}
	c.own = c.ownCommands()
	return c
}

// readLines gives the lines of in; the channel is closed at its end.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				select {
				case lines <- strings.TrimRight(line, "\r\n"):
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

var errLeave = errors.New("leaving")

// loop waits for a line, for the workspace, or for an interrupt.
func (c *console) loop(lines <-chan string, interrupts <-chan os.Signal) error {
	for c.wrote == nil {
		generating := c.speak()
		if !generating && len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			if c.report(c.submit(next)) {
				return c.leave()
			}
			continue
		}
		if !generating && !c.asked {
			if c.ended {
				return c.leave()
			}
			c.ask()
		}
		select {
		case line, ok := <-lines:
			c.asked, c.doubted = false, time.Time{}
			if !ok {
				c.ended, lines = true, nil
				continue
			}
			if c.report(c.handleLine(line)) {
				return c.leave()
			}
		case <-c.workspace.Changes():
			if err := c.workspace.Trouble(); err != nil && err.Error() != c.trouble {
				c.trouble = err.Error()
				c.report(err)
			}
		case <-interrupts:
			if c.interrupt(generating) {
				return c.leave()
			}
		case <-c.ctx.Done():
			return c.leave()
		}
	}
	return fmt.Errorf("writing to the terminal: %w", c.wrote)
}

// doubtLasts is how soon a second ctrl+c must come to leave.
const doubtLasts = 4 * time.Second

// interrupt is ctrl+c: it stops the answer, then drops what was begun to be
// written, then asks to leave, and leaves.
func (c *console) interrupt(generating bool) (leave bool) {
	switch {
	case generating:
		c.d.Stop()
		return false
	case len(c.draft) > 0:
		c.draft = nil
		c.say("What was written is dropped.")
	case time.Since(c.doubted) < doubtLasts:
		return true
	default:
		c.doubted = time.Now()
		c.say("Press ctrl+c again to leave.")
	}
	c.asked = false
	return false
}

// report tells an error, or returns that the person wants to leave.
func (c *console) report(err error) (leave bool) {
	if errors.Is(err, errLeave) {
		return true
	}
	if err != nil {
		c.say("Error: " + kit.OneLine(untrusted.Message(err)))
	}
	return false
}

func (c *console) leave() error {
	c.saveLayout()
	c.say("")
	return nil
}

func (c *console) saveLayout() { c.workspace.SaveLayout([]*chat.Dialogue{c.d}, 0) }

// handleLine takes one line of input. What is written while an answer is running
// waits for its end, but for what concerns that answer.
func (c *console) handleLine(line string) error {
	if rest, more := strings.CutSuffix(line, `\`); more {
		c.draft = append(c.draft, rest)
		return nil
	}
	text := strings.Join(append(c.draft, line), "\n")
	c.draft = nil
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if (c.d.View().Live != nil || len(c.queue) > 0) && !c.urgent(text) {
		c.queue = append(c.queue, text)
		return nil
	}
	return c.submit(text)
}

// urgent reports whether a text is a command that does not wait for the end of
// the running answer. Leaving waits for what has been written before it.
func (c *console) urgent(text string) bool {
	name, _, _, isCommand := composer.ParseCommand(text)
	a, known := keys.Slash(name)
	return isCommand && known && (a.ID == keys.Stop || a.ID == keys.MonitorPanel || a.Category == keys.Sampling || a.ID == keys.Quit && len(c.queue) == 0)
}

// submit sends a prompt or runs a command.
func (c *console) submit(text string) error {
	name, arg, text, isCommand := composer.ParseCommand(text)
	if isCommand {
		return c.runCommand(name, arg)
	}
	text, err := c.readFiles(text)
	if err != nil {
		return err
	}
	return c.startAnswer(func() error { return c.d.Send(text) })
}

// use makes a dialogue the open one.
func (c *console) use(d *chat.Dialogue) {
	if d.ID() != c.d.ID() {
		c.workspace.CloseDialogue(c.d)
		c.d, c.answer, c.choosing = d, spoken{}, false
	}
	c.saveLayout()
}
