package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rookery/chat/prompt"
	"rookery/infer/checkpoint"
	"rookery/infer/cpu"
	"rookery/infer/demo"
	"rookery/infer/load"
	"rookery/infer/rwkv"
)

func (a *app) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "models", Short: "Fetch, inspect, verify and convert models", Args: usageArgs(cobra.NoArgs)}
	var asJSON, tensors bool
	inspect := &cobra.Command{
		Use:   "inspect [FILE]",
		Short: "Show what a model file holds",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := openCheckpoint(args)
			if err != nil {
				return exitWith(exitModel, err)
			}
			c, cerr := a.loadConfig()
			if cerr != nil {
				return errors.Join(cerr, f.Close())
			}
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			spec, _ := findSpec(c, path)
			err = inspectModel(cmd.OutOrStdout(), f, spec, asJSON, tensors)
			return errors.Join(err, f.Close())
		},
	}
	inspect.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	inspect.Flags().BoolVar(&tensors, "tensors", false, "list every tensor")
	cmd.AddCommand(inspect, convertCommand(), verifyCommand(), a.pullCommand())
	cmd.AddCommand(a.storeCommands()...)
	cmd.AddCommand(templateCommand(a, "template FILE", "Set how a model is spoken to", templateName))
	return cmd
}

func openCheckpoint(args []string) (*checkpoint.File, error) {
	if len(args) == 0 {
		return demo.Open()
	}
	return checkpoint.Open(args[0])
}

// A modelJSON is what `models inspect --json` prints.
type modelJSON struct {
	File        string       `json:"file"`
	Format      string       `json:"format"`
	Bytes       int64        `json:"bytes"`
	Fingerprint string       `json:"fingerprint"`
	Version     string       `json:"version"`
	Runs        bool         `json:"runs"`
	Why         string       `json:"why,omitempty"`
	Layers      int          `json:"layers"`
	Embed       int          `json:"embed"`
	Heads       int          `json:"heads"`
	HeadSize    int          `json:"head_size"`
	FFN         int          `json:"ffn"`
	Vocab       int          `json:"vocab"`
	Ranks       []rankJSON   `json:"ranks,omitempty"`
	Parameters  int64        `json:"parameters"`
	StateBytes  int64        `json:"state_bytes"`
	Weights     string       `json:"weights"`
	Memory      int64        `json:"memory_bytes"`
	Packed      []string     `json:"packed_types,omitempty"`
	OwnVocab    bool         `json:"carries_vocabulary"`
	Family      string       `json:"family"`
	FamilyWhy   string       `json:"family_why"`
	ByHand      prompt.Spec  `json:"set_by_hand,omitzero"`
	Tensors     []tensorJSON `json:"tensors,omitempty"`
}

// A rankJSON is the inner size of low-rank matrices of the model.
type rankJSON struct {
	Name string `json:"name"`
	Rank int    `json:"rank"`
}

type tensorJSON struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

func inspectModel(w io.Writer, f *checkpoint.File, spec prompt.Spec, asJSON, tensors bool) error {
	shape, err := rwkv.Detect(f)
	m := modelJSON{
		File: f.Path(), Format: f.Format(), Bytes: f.Size(), Fingerprint: f.Fingerprint(),
		Version: shape.Version.String(), Runs: err == nil, Layers: shape.Layers, Embed: shape.Embed, Heads: shape.Heads,
		HeadSize: shape.HeadSize, FFN: shape.FFN, Vocab: shape.Vocab,
		OwnVocab: f.Vocab() != nil, Packed: f.PackedTypes(),
	}
	family, why := prompt.RecogniseFamily(load.ModelName(f.Path()), f.Metadata())
	m.Family, m.FamilyWhy = family.String(), why
	m.ByHand = spec
	for i, name := range shape.RankNames() {
		m.Ranks = append(m.Ranks, rankJSON{name, shape.Ranks[i]})
	}
	if err != nil {
		m.Why = err.Error()
	} else {
		m.Parameters, m.StateBytes = shape.Params(), shape.StateBytes()
		need, err := cpu.EstimateLoad(f, shape, "auto")
		if err != nil {
			return err
		}
		m.Weights, m.Memory = need.Weights, need.Bytes
	}
	if tensors {
		for _, name := range f.Names() {
			t, ok := f.Tensor(name)
			if !ok {
				return fmt.Errorf("%s lists a tensor %s that it does not have", f.Path(), name)
			}
			m.Tensors = append(m.Tensors, tensorJSON{name, t.DType.String(), t.Shape})
		}
	}
	if asJSON {
		return printJSON(w, m)
	}
	return m.write(w)
}

// weightsText says in which type the weights are run, and which they are in the file.
func (m modelJSON) weightsText() string {
	if len(m.Packed) == 0 || m.Weights == "int8" {
		return m.Weights
	}
	return strings.Join(m.Packed, ", ") + ", widened to " + m.Weights
}

// write prints the facts for people.
func (m modelJSON) write(out io.Writer) error {
	w := newTable(out)
	w.fact("file", "%s", m.File)
	w.fact("format", "%s, %s", m.Format, bytesText(m.Bytes))
	w.fact("version", "%s", m.Version)
	if m.Runs {
		w.fact("runs", "yes")
		w.fact("parameters", "%.1f M", float64(m.Parameters)/1e6)
		w.fact("shape", "%d layers, width %d, %d heads of %d, FFN %d, vocabulary %d", m.Layers, m.Embed, m.Heads, m.HeadSize, m.FFN, m.Vocab)
		var ranks []string
		for _, r := range m.Ranks {
			ranks = append(ranks, fmt.Sprintf("%s %d", r.Name, r.Rank))
		}
		w.fact("ranks", "%s", strings.Join(ranks, ", "))
		w.fact("state", "%s a conversation", bytesText(m.StateBytes))
		w.fact("weights", "%s, %s of memory on the CPU", m.weightsText(), bytesText(m.Memory))
		w.fact("family", "%s: %s", m.Family, m.FamilyWhy)
		for _, f := range m.ByHand.Facts() {
			w.fact("by hand", "%s %s", f[0], f[1])
		}
	} else {
		w.fact("runs", "no: %s", m.Why)
	}
	if m.OwnVocab {
		w.fact("vocabulary", "in the file")
	}
	w.fact("fingerprint", "%s", m.Fingerprint)
	for _, t := range m.Tensors {
		w.fact(t.Name, "%s %v", t.DType, t.Shape)
	}
	return w.Flush()
}

func convertCommand() *cobra.Command {
	var output, vocab, weights string
	var embedding bool
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Write a model in another format",
		Long: "Write a model as .safetensors, .pth or .gguf, as the ending of the output says. --weights sets the type of the\n" +
			"matrices: int8 is blocks of 32 with an fp16 scale (Q8_0 in a .gguf); without it types stay where the format has\n" +
			"them. The other tensors stay exact. A vocabulary goes along; the embedded model was made this way.",
		Example: "rookery models convert model.gguf -o model.pth\nrookery models convert model.pth -o model.gguf --weights int8",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return convertModel(cmd, args[0], output, vocab, weights, embedding)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write")
	cmd.Flags().StringVar(&weights, "weights", "auto", "type of the matrices: auto, fp32, fp16, bf16 or int8")
	cmd.Flags().StringVar(&vocab, "vocab", "", "vocabulary file to include")
	cmd.Flags().BoolVar(&embedding, "embedding", false, "write the embedding in int8 too; this saves space and no time")
	return cmd
}

// convertTypes are the values of --weights.
var convertTypes = map[string]checkpoint.DType{
	"auto": 0, "fp32": checkpoint.F32, "fp16": checkpoint.F16, "bf16": checkpoint.BF16, "int8": checkpoint.Q8,
}

func convertModel(cmd *cobra.Command, input, output, vocabPath, weights string, embedding bool) error {
	if output == "" {
		return exitWith(exitUsage, errors.New("name the file to write: --output FILE"))
	}
	typ, ok := convertTypes[weights]
	if !ok {
		return exitWith(exitUsage, fmt.Errorf("--weights %q: use auto, fp32, fp16, bf16 or int8", weights))
	}
	var vocab []byte
	if vocabPath != "" {
		var err error
		if vocab, err = load.ReadVocab(cmd.Context(), vocabPath); err != nil {
			return err
		}
	}
	f, err := checkpoint.Open(input)
	if err != nil {
		return exitWith(exitModel, err)
	}
	shape, err := rwkv.Detect(f)
	if err != nil {
		return errors.Join(exitWith(exitModel, fmt.Errorf("%s: %w", input, err)), f.Close())
	}
	meter := newMeter(cmd.ErrOrStderr())
	c := checkpoint.Conversion{
		Weights: typ, Tensors: shape.Matrices(embedding || typ != checkpoint.Q8), Vocab: vocab, Name: load.ModelName(input),
		Progress: func(done, total int64) { meter.show("converting", done, total, "bytes") },
	}
	if strings.EqualFold(filepath.Ext(output), ".gguf") {
		c.Tokens, err = ggufTokens(cmd.Context(), input, vocabPath)
	}
	if err == nil {
		err = checkpoint.Convert(cmd.Context(), f, output, c)
	}
	meter.clear()
	return errors.Join(err, f.Close())
}

// ggufTokens are the bytes of the model's tokens, for a GGUF file; nil for a BPE, which
// has no form there.
func ggufTokens(ctx context.Context, model, vocab string) ([][]byte, error) {
	m, err := load.Identify(ctx, load.Spec{Model: model, Vocab: vocab})
	if err != nil {
		return nil, err
	}
	if !m.Tokenizer.Greedy() {
		return nil, nil
	}
	tokens := make([][]byte, m.Tokenizer.Size())
	for id := range tokens {
		tokens[id] = m.Tokenizer.Bytes(int32(id))
	}
	return tokens, nil
}
