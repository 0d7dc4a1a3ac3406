package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/checkpoint"

	"github.com/spf13/cobra"
)

// logitsOptions are the flags of `logits` alone.
type logitsOptions struct {
	tokens, text, state string
	adapter             adapterFlags
	mix                 mixFlag
}

func (a *app) logitsCommand() *cobra.Command {
	var o logitsOptions
	cmd := &cobra.Command{
		Use:   "logits",
		Short: "Print the logits after given tokens, as JSON",
		Long: "Feed tokens, or a text, to the model from the zero state, or that of --state, and print the logits after the\n" +
			"last token as JSON: {\"model\", \"tokens\", \"logits\"}; with --mix the combined ones. This helps to port a model.",
		Example: "rookery logits --model model.pth --tokens 24281,59,4571 | jq '.logits[:5]'",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.printLogits(cmd, o)
		},
	}
	a.modelFlags(cmd.Flags())
	o.adapter.addTo(cmd.Flags(), true)
	o.mix.addTo(cmd.Flags())
	cmd.Flags().StringVar(&o.state, "state", "", "state of the library that the tokens are read after")
	cmd.Flags().StringVar(&o.tokens, "tokens", "", "token ids, separated by commas")
	cmd.Flags().StringVar(&o.text, "text", "", "text to encode instead of tokens")
	return cmd
}

// A logitsJSON is what `logits` prints.
type logitsJSON struct {
	Model  string    `json:"model"`
	Tokens []int32   `json:"tokens"`
	Logits []float32 `json:"logits"`
}

func (a *app) printLogits(cmd *cobra.Command, o logitsOptions) error {
	if (o.tokens == "") == (o.text == "") {
		return exitWith(exitUsage, errors.New("give either --tokens or --text"))
	}
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	ids, err := parseTokens(o.tokens)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	start, err := o.findStart(cmd.Context(), c)
	if err != nil {
		return err
	}
	e, err := openModel(cmd.Context(), cmd, c)
	if err != nil {
		return err
	}
	ids = e.Model().Tokenizer.Encode(ids, o.text)
	out := logitsJSON{Model: e.Model().Name, Tokens: ids}
	if out.Logits, err = o.computeLogits(cmd.Context(), c, e, start, ids); err == nil && slices.ContainsFunc(out.Logits, func(v float32) bool { return v-v != 0 }) {
		err = infer.ErrNaN
	}
	if err == nil {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(out)
	}
	return errors.Join(nameNaN(err, e.Model().Path), e.Close())
}

// nameNaN names the tensor that a model's NaN comes from, if it is one of the file's.
func nameNaN(err error, path string) error {
	if !errors.Is(err, infer.ErrNaN) || path == "" {
		return err
	}
	f, oerr := checkpoint.Open(path)
	if oerr != nil {
		return err
	}
	if cause := errors.Join(f.CheckFinite(), f.Close()); cause != nil {
		return exitWith(exitModel, cause)
	}
	return err
}

// A start is what tokens are read after.
type start struct {
	state *turn.State // nil: the zero state
	mix   turn.Mix
}

// findStart finds the states that --state and --mix name.
func (o *logitsOptions) findStart(ctx context.Context, c config.Config) (s start, err error) {
	if o.state != "" {
		if s.state, err = findState(ctx, c, o.state); err != nil {
			return s, err
		}
	}
	s.mix, err = o.mix.parseMix(ctx, c)
	return s, err
}

// computeLogits returns the logits after tokens that are read after a start.
func (o *logitsOptions) computeLogits(ctx context.Context, c config.Config, e *infer.Engine, s start, tokens []int32) (logits []float32, err error) {
	r := infer.Request{Tokens: tokens, Weight: s.mix.Weights()[0]}
	if s.state != nil {
		if r.From, r.Tokens, err = library.BeginFrom(*s.state, e.Model()); err != nil {
			return nil, err
		}
		r.Tokens = slices.Concat(r.Tokens, tokens)
	}
	if r.Adapter, err = o.adapter.loadAdapter(ctx, c, e); err != nil {
		return nil, err
	}
	if s.state != nil {
		if err := s.state.CheckAdapter(r.Adapter, o.adapter.name); err != nil {
			return nil, exitWith(exitUsage, fmt.Errorf("--state: %w", err))
		}
	}
	if r.Members, err = loadMembers(ctx, c, e.Model(), s.mix, r.Adapter); err != nil {
		return nil, err
	}
	return computeLogits(ctx, e, r)
}

func parseTokens(list string) ([]int32, error) {
	if list == "" {
		return nil, nil
	}
	var ids []int32
	for field := range strings.SplitSeq(list, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(field), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("--tokens: %q is not a token id", field)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}
