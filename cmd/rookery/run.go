package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"rookery/chat"
	"rookery/chat/attach"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/sampler"
)

// maxPrompt limits what is read from standard input, in bytes.
const maxPrompt = 256 << 20

// runOptions are the flags of `run` alone.
type runOptions struct {
	raw, json bool
	stops     []string
	state     string // name of the base state
	adapter   adapterFlags
	mix       mixFlag
	grammar   grammarFlag
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [prompt]",
		Short: "Answer one prompt, for pipes",
		Long: "Print the answer to one prompt. The prompt comes from the arguments, from standard input, or from both: the\n" +
			"arguments first, then a blank line, then the input. An argument may name files and folders as @path: their text is\n" +
			"added behind the arguments.",
		Example: "rookery run 'Tell me a story about a brave cat.'\nrookery run 'Sum up @notes.md'\ngit diff | rookery run 'Summarise this:' -m model.pth\nrookery run --raw 'Once upon a time' --seed 7 -n 100",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answerPrompt(cmd, args, o)
		},
	}
	cmd.Flags().StringVar(&o.state, "state", "", "state of the library that the answer begins from")
	o.adapter.addTo(cmd.Flags(), true)
	o.mix.addTo(cmd.Flags())
	o.grammar.addTo(cmd.Flags())
	a.modelFlags(cmd.Flags())
	a.chatFlags(cmd.Flags())
	a.samplingFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.raw, "raw", false, "continue the text as it is, without a chat template")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object at the end instead of text")
	cmd.Flags().StringArrayVar(&o.stops, "stop", nil, "string that ends the answer (repeatable)")
	return cmd
}

func (a *app) answerPrompt(cmd *cobra.Command, args []string, o runOptions) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	prompt, err := readPrompt(cmd.Context(), cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	var from *turn.State
	if o.state != "" {
		if from, err = findState(cmd.Context(), c, o.state); err != nil {
			return err
		}
	}
	mix, err := o.mix.parseMix(cmd.Context(), c)
	if err != nil {
		return err
	}
	e, err := openModel(cmd.Context(), cmd, c)
	if err != nil {
		return err
	}
	err = generateAnswer(cmd.Context(), cmd.OutOrStdout(), e, c, prompt, from, mix, o)
	return errors.Join(nameNaN(err, e.Model().Path), e.Close())
}

// readPrompt joins the arguments, the files that they name and standard input; it does
// not read from a terminal.
func readPrompt(ctx context.Context, in io.Reader, args []string) (string, error) {
	named, err := attach.Read(ctx, strings.Join(args, " "))
	if err != nil {
		return "", exitWith(exitUsage, err)
	}
	prompt := named.String()
	if !isTerminal(in) {
		data, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("reading standard input: %w", err)
		}
		if len(data) > maxPrompt {
			return "", exitWith(exitUsage, fmt.Errorf("standard input is longer than %s", bytesText(int64(maxPrompt))))
		}
		if len(data) > 0 && prompt != "" {
			prompt += "\n\n"
		}
		prompt += string(data)
	}
	if strings.TrimSpace(prompt) == "" {
		return "", exitWith(exitUsage, errors.New("there is no prompt: give it as an argument or on standard input"))
	}
	return prompt, nil
}

// generateAnswer generates and prints one answer.
func generateAnswer(ctx context.Context, w io.Writer, e *infer.Engine, c config.Config, prompt string, from *turn.State, mix turn.Mix, o runOptions) error {
	d, err := chatDefaults(c, e.Model())
	if err != nil {
		return err
	}
	if o.stops != nil {
		d.Stops = o.stops
	}
	lead := " "
	if o.raw {
		lead = ""
	}
	form, err := o.grammar.compile(ctx, lead)
	if err != nil {
		return err
	}
	if form != nil {
		d.Think = turn.ThinkOff // a thought would have to keep to the grammar
	}
	req, header, err := buildRequest(e.Model(), d, from, prompt, o.raw)
	if err != nil {
		return err
	}
	if _, given := c.Sampling["seed"]; !given {
		req.Sampling.Seed = rand.Uint64() >> 11 // JSON numbers hold 53 bits exactly
	}
	req.Label, req.Grammar = "run", form
	if req.Adapter, err = o.adapter.loadAdapter(ctx, c, e); err != nil {
		return err
	}
	if from != nil {
		if err := from.CheckAdapter(req.Adapter, o.adapter.name); err != nil {
			return exitWith(exitUsage, fmt.Errorf("--state: %w", err))
		}
	}
	if req.Members, err = loadMembers(ctx, c, e.Model(), mix, req.Adapter); err != nil {
		return err
	}
	req.Weight = mix.Weights()[0]
	s, err := e.Submit(req)
	if err != nil {
		return err
	}
	out := &printer{w: w, quiet: o.json, trim: !o.raw}
	if err := out.write(header); err != nil {
		return err
	}
	if err := printStream(ctx, s, out); err != nil {
		return err
	}
	end := s.Ending()
	if end.Err != nil {
		return end.Err
	}
	if o.json {
		return printAnswerJSON(w, e.Model(), req.Sampling, out.text.String(), end)
	}
	if err := out.endLine(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// buildRequest makes the request, from the zero state or from a state of the library,
// and the header that the output begins with.
func buildRequest(m *infer.Model, d chat.Defaults, from *turn.State, text string, raw bool) (infer.Request, string, error) {
	if raw {
		req, err := d.RawRequest(m, text, from)
		return req, "", err
	}
	return d.Request(m, prompt.QuestionOf(text), from)
}

// printStream prints the text as it comes, until the answer has ended. It stops the
// answer when ctx ends.
func printStream(ctx context.Context, s *infer.Stream, out *printer) error {
	cancelled := ctx.Done()
	for {
		select {
		case <-cancelled:
			s.Cancel()
			cancelled = nil
		case <-s.Changed():
		case <-s.Done():
			text, _ := s.Read()
			return out.write(text)
		}
		text, _ := s.Read()
		if err := out.write(text); err != nil {
			s.Cancel()
			<-s.Done()
			return err
		}
	}
}

// A printer writes an answer as it comes. With trim it drops blanks at the beginning.
// The caller ends the output with endLine.
type printer struct {
	w           io.Writer
	quiet, trim bool
	text        strings.Builder
}

func (p *printer) write(text string) error {
	if p.trim && p.text.Len() == 0 {
		text = strings.TrimLeft(text, " \n")
	}
	p.text.WriteString(text)
	if p.quiet || text == "" {
		return nil
	}
	_, err := io.WriteString(p.w, text)
	return err
}

// endLine ends the output with a newline, unless it has one.
func (p *printer) endLine() error {
	if strings.HasSuffix(p.text.String(), "\n") {
		return nil
	}
	_, err := io.WriteString(p.w, "\n")
	return err
}

// An answerJSON is what `run --json` prints. docs/cli.md documents it.
type answerJSON struct {
	Model    string         `json:"model"`
	Text     string         `json:"text"`
	Tokens   []int32        `json:"tokens"`
	Reason   string         `json:"reason"`
	Sampling sampler.Params `json:"sampling"`
	Usage    usageJSON      `json:"usage"`
}

type usageJSON struct {
	Read         int     `json:"read_tokens"`
	Generated    int     `json:"generated_tokens"`
	ReadSeconds  float64 `json:"read_seconds"`
	WriteSeconds float64 `json:"generate_seconds"`
	FirstSeconds float64 `json:"first_token_seconds"`
}

func printAnswerJSON(w io.Writer, m *infer.Model, p sampler.Params, text string, end infer.Ending) error {
	u := end.Usage
	return printJSON(w, answerJSON{
		Model: m.Name, Text: text, Tokens: end.Tokens, Reason: end.Reason.String(),
		Sampling: p,
		Usage:    usageJSON{u.Read, u.Generated, u.ReadTime.Seconds(), u.DecodeTime.Seconds(), u.FirstToken.Seconds()},
	})
}
