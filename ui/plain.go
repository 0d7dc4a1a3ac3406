package ui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/composer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/transcript"
)

// plain is the interface for screen readers: no alternate screen, no boxes, no
// spinner, nothing that is painted twice. It has one conversation open at a
// time, speaks in whole sentences, and takes slash commands.
type plain struct {
	ctx       context.Context
	options   Options
	workspace workspace
	model     *infer.Model
	own       []prompt.Preset // of sampling
	out       io.Writer
	wrote     error // the first error of out

	d       dialogue
	draft   []string // lines that ended with a backslash
	queue   []string // what was written while an answer was running
	live    turn.ID  // of the answer that is being spoken
	started bool     // its name has been written
	thought bool     // its thought has been announced
	spoken  int      // bytes of its answer that have been written
	inside  bool     // the line that is being written is the answer's
	reading rereading
	failure string // the error that was last told
	ended   bool   // standard input has
	// choosing is set while several answers are generated, which are read out
	// when all have ended.
	choosing bool
	blind    bool      // they are read out without their names
	hidden   []turn.ID // of those whose names were not told, in that order
	asked    bool      // "You: " is waiting for a line
	thrown   turn.ID   // the conversation that was deleted last; 0: none
}

// runPlain talks until the input ends, the person leaves, or ctx ends.
func runPlain(ctx context.Context, k workspace, o Options) error {
	in, out := o.In, o.Out
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	p := &plain{ctx: ctx, options: o, workspace: k, model: modelOf(k), own: o.Settings.Presets, out: out}
	open, active, err := k.Restore(ctx)
	if err != nil {
		return err
	}
	if p.d = k.New(); active >= 0 && active < len(open) {
		p.d = open[active]
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	p.welcome(o.Version)
	return p.loop(readLines(ctx, in), interrupts)
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
func (p *plain) loop(lines <-chan string, interrupts <-chan os.Signal) error {
	for p.wrote == nil {
		generating := p.speak()
		if !generating && len(p.queue) > 0 {
			next := p.queue[0]
			p.queue = p.queue[1:]
			if p.obey(p.take(next)) {
				return p.leave()
			}
			continue
		}
		if !generating && !p.asked {
			if p.ended {
				return p.leave()
			}
			p.ask()
		}
		select {
		case line, ok := <-lines:
			if !ok {
				p.ended, lines = true, nil
				p.asked = false
				continue
			}
			p.asked = false
			if p.obey(p.line(line)) {
				return p.leave()
			}
		case <-p.workspace.Changes():
		case <-interrupts:
			if !generating {
				return p.leave()
			}
			p.d.Stop()
		case <-p.ctx.Done():
			return p.leave()
		}
	}
	return fmt.Errorf("writing to the terminal: %w", p.wrote)
}

// obey tells an error, or reports that the person wants to leave.
func (p *plain) obey(err error) (leave bool) {
	if errors.Is(err, errLeave) {
		return true
	}
	if err != nil {
		p.say("Error: " + kit.OneLine(err.Error()))
	}
	return false
}

func (p *plain) leave() error {
	p.workspace.SaveLayout([]dialogue{p.d}, 0)
	p.say("")
	return nil
}

func (p *plain) write(text string) {
	if _, err := io.WriteString(p.out, text); err != nil && p.wrote == nil {
		p.wrote = err
	}
}

// say writes a line of its own.
func (p *plain) say(text string) {
	p.endLine()
	p.write(text + "\n")
}

// endLine leaves the line of a prompt that is still waiting, or of an answer.
func (p *plain) endLine() {
	if p.asked || p.inside {
		p.asked, p.inside = false, false
		p.write("\n")
	}
}

func (p *plain) ask() {
	p.asked = true
	p.write("You: ")
}

// welcome says where one is and what was said last.
func (p *plain) welcome(version string) {
	p.say(strings.TrimSpace("Rookery " + version + ". /help lists the commands, /quit leaves."))
	v := p.d.View()
	if len(v.Turns) == 0 {
		if p.model != nil {
			if text := prompt.Greeting(p.model); text != "" {
				p.say(text)
			}
		}
		return
	}
	p.say(fmt.Sprintf("Conversation: %s, %d messages.", kit.TitleOf(v.Conversation), len(v.Turns)))
	last := v.Turns[len(v.Turns)-1]
	if last.Role == turn.RoleAssistant {
		_, answer, _ := prompt.SplitThought(last.Text)
		p.say("Answer: " + kit.Clean(strings.TrimSpace(answer)))
	} else {
		p.say("You: " + kit.Clean(last.Text))
	}
	if last.Open {
		p.say("The answer was interrupted. /continue goes on with it.")
	}
}

// line takes one line of input. What is written while an answer is running
// waits for its end, but for what concerns that answer.
func (p *plain) line(line string) error {
	if rest, more := strings.CutSuffix(line, `\`); more {
		p.draft = append(p.draft, rest)
		return nil
	}
	text := strings.Join(append(p.draft, line), "\n")
	p.draft = nil
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if (p.d.View().Live != nil || len(p.queue) > 0) && !p.urgent(text) {
		p.queue = append(p.queue, text)
		return nil
	}
	return p.take(text)
}

// urgent reports whether a text is a command that does not wait for the end of
// the running answer. Leaving waits for what has been written before it.
func (p *plain) urgent(text string) bool {
	name, _, _, isCommand := composer.ParseCommand(text)
	a, known := keys.Slash(name)
	return isCommand && known && (a.ID == keys.Stop || a.ID == keys.MonitorPanel || a.Category == keys.Sampling || a.ID == keys.Quit && len(p.queue) == 0)
}

// take sends a prompt or runs a command.
func (p *plain) take(text string) error {
	name, arg, text, isCommand := composer.ParseCommand(text)
	if isCommand {
		return p.command(name, arg)
	}
	return p.answered(func() error { return p.d.Send(text) })
}

// answered does what starts an answer, and keeps in mind which one it is: one of
// a few tokens can be over before the conversation is looked at again.
func (p *plain) answered(start func() error) error {
	p.speak() // the end of the one before, if that is not told yet
	before := newestAnswer(p.d.View())
	if err := start(); err != nil {
		return err
	}
	v := p.d.View()
	if v.Live != nil {
		p.begin(v.Live.Turn.ID)
	} else if now := newestAnswer(v); now != before {
		p.begin(now)
	}
	return nil
}

// newestAnswer is the answer that a conversation ends with, or 0.
func newestAnswer(v chat.View) turn.ID {
	if n := len(v.Turns); n > 0 && v.Turns[n-1].Role == turn.RoleAssistant {
		return v.Turns[n-1].ID
	}
	return 0
}

// begin begins to speak an answer.
func (p *plain) begin(answer turn.ID) {
	p.live, p.started, p.thought, p.spoken = answer, false, false, 0
}

// speak writes what of the running answer has become a whole sentence, and the
// end of an answer that has ended. It says whether one is running: one that ends
// from here on is not told yet.
func (p *plain) speak() (generating bool) {
	v := p.d.View()
	generating = v.Live != nil
	if p.choosing && p.choose(v) {
		return generating
	}
	if p.live != 0 && (v.Live == nil || v.Live.Turn.ID != p.live) {
		p.finish(v)
	}
	if v.Live != nil {
		if p.live == 0 {
			p.begin(v.Live.Turn.ID)
		}
		p.reread(v.Live)
		thought, answer, open := prompt.SplitThought(v.Live.Text)
		if open && !p.thought {
			p.thought = true
			p.say("Thinking.")
		}
		if !open {
			p.tell(thought, strings.TrimLeft(answer, " \n"), false)
		}
	}
	if v.Err == nil {
		p.failure = ""
	} else if text := kit.OneLine(v.Err.Error()); text != p.failure {
		p.failure = text
		p.say("Error: " + text)
	}
	return generating
}

// tell writes the answer up to the end of its last whole sentence, or all of it.
func (p *plain) tell(thought, answer string, all bool) {
	rest := answer[min(p.spoken, len(answer)):]
	if !all {
		rest = rest[:sentenceEnd(rest)]
	}
	if rest == "" {
		return
	}
	if !p.started {
		p.started = true
		p.endLine()
		if thought != "" {
			p.say(fmt.Sprintf("Thought: %d words.", transcript.CountWords(thought)))
		}
		p.write("Answer: ")
	}
	p.spoken += len(rest)
	p.inside = !strings.HasSuffix(rest, "\n")
	p.write(kit.Clean(rest))
}

// finish writes the end of an answer and how it ended.
func (p *plain) finish(v chat.View) {
	for _, t := range v.Turns {
		if t.ID != p.live {
			continue
		}
		thought, answer, _ := prompt.SplitThought(t.Text)
		p.tell(thought, strings.Trim(answer, " \n"), true)
		p.endLine()
		if t.Open {
			p.say("The answer was interrupted. /continue goes on with it.")
		}
	}
	p.live = 0
}

// sentenceEnd is where the last whole sentence or line of a text ends.
func sentenceEnd(text string) int {
	end := strings.LastIndexByte(text, '\n') + 1
	for _, mark := range []string{". ", "! ", "? ", "。", "！", "？"} {
		if i := strings.LastIndex(text, mark); i >= 0 {
			end = max(end, i+len(mark))
		}
	}
	return end
}
