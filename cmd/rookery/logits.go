package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) logitsCommand() *cobra.Command {
	var tokens, text string
	var adapter adapterFlags
	cmd := &cobra.Command{
		Use:   "logits",
		Short: "Print the logits after given tokens, as JSON",
		Long: "Feed tokens, or a text, to the model from the zero state and print the logits after the last token as JSON:\n" +
			"{\"model\", \"tokens\", \"logits\"}. This helps to port a model.",
		Example: "rookery logits --model model.pth --tokens 24281,59,4571 | jq '.logits[:5]'",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.printLogits(cmd, tokens, text, adapter)
		},
	}
	a.modelFlags(cmd.Flags())
	adapter.addTo(cmd.Flags(), true)
	cmd.Flags().StringVar(&tokens, "tokens", "", "token ids, separated by commas")
	cmd.Flags().StringVar(&text, "text", "", "text to encode instead of tokens")
	return cmd
}

// A logitsJSON is what `logits` prints.
type logitsJSON struct {
	Model  string    `json:"model"`
	Tokens []int32   `json:"tokens"`
	Logits []float32 `json:"logits"`
}

func (a *app) printLogits(cmd *cobra.Command, list, text string, adapter adapterFlags) error {
	if (list == "") == (text == "") {
		return exitWith(exitUsage, errors.New("give either --tokens or --text"))
	}
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	ids, err := parseTokens(list)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	e, err := openModel(cmd.Context(), cmd, c)
	if err != nil {
		return err
	}
	ids = e.Model().Tokenizer.Encode(ids, text)
	out := logitsJSON{Model: e.Model().Name, Tokens: ids}
	if out.Logits, err = adapter.computeLogits(cmd.Context(), c, e, ids); err == nil {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(out)
	}
	return errors.Join(err, e.Close())
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
