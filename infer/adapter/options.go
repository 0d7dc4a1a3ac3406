package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rookery/untrusted"
)

// Options say what adapter files do not. With the zero value, Open asks for what
// it needs by a QuestionError.
type Options struct {
	// Alpha gives LoRA and DoRA the scale Alpha/rank for each product's rank. Scale,
	// if not 0, is the scale itself and takes precedence. If both are 0, the sidecar
	// says.
	Alpha, Scale float32
	// Strength multiplies the whole change; 0 stands for 1, because an adapter without
	// any strength is none. It is not in the sidecar.
	Strength float32
	// Blocks says for square Bone blocks, whose shape does not tell, what they are:
	// BlocksColumn (BAT) or BlocksRow (the oldest Bone).
	Blocks string
	// Init is the path of the file with the initial values of a PiSSA adapter.
	Init string
	// Partial accepts a file that has nothing for some of the layers.
	Partial bool
}

// The values of Options.Blocks.
const (
	BlocksColumn = "column" // a block for each piece of the inputs: BAT
	BlocksRow    = "row"    // a block for each piece of the outputs: Bone before 2024-10
)

// A QuestionError asks for an option that neither the file nor the sidecar has.
type QuestionError struct {
	Path    string
	Asked   string   // the option: "alpha" or "blocks"
	Problem string   // "a LoRA file does not say its alpha"
	Choices []string // the possible answers; a single "" stands for any number
}

func (e *QuestionError) Error() string {
	with := "give " + e.Asked
	if len(e.Choices) > 0 {
		with += " as " + strings.Join(e.Choices, " or ")
	}
	return fmt.Sprintf("%s: %s; %s, or write it into %s", e.Path, e.Problem, with, filepath.Base(Sidecar(e.Path)))
}

// Sidecar is the name of the file beside an adapter that has the options in JSON:
// {"alpha": 32, "scale": 2.0, "blocks": "column", "init": "file.pth"}.
func Sidecar(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".json"
}

// maxSidecar bounds the size of a sidecar in bytes.
const maxSidecar = 1 << 16

// sidecar is the JSON form of Options.
type sidecar struct {
	Alpha  float32 `json:"alpha,omitempty"`
	Scale  float32 `json:"scale,omitempty"`
	Blocks string  `json:"blocks,omitempty"`
	Init   string  `json:"init,omitempty"`
}

// withSidecar fills in the options that are not set from the adapter's sidecar.
func (o Options) withSidecar(path string) (Options, error) {
	side := Sidecar(path)
	data, err := untrusted.Read(context.Background(), side, maxSidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return o, o.check()
	}
	if err != nil {
		return o, err
	}
	var s sidecar
	if err := json.Unmarshal(data, &s); err != nil {
		return o, fmt.Errorf(`%s: %w; it should be like {"alpha": 32}`, side, err)
	}
	if o.Alpha == 0 && o.Scale == 0 {
		o.Alpha, o.Scale = s.Alpha, s.Scale
	}
	if o.Blocks == "" {
		o.Blocks = s.Blocks
	}
	if o.Init == "" && s.Init != "" {
		if !filepath.IsLocal(s.Init) {
			return o, fmt.Errorf("%s: init %q leads out of the folder; name a file in it", side, s.Init)
		}
		o.Init = filepath.Join(filepath.Dir(path), s.Init)
	}
	if err := o.check(); err != nil {
		return o, fmt.Errorf("%s: %w", side, err)
	}
	return o, nil
}

// strength is Strength, or 1.
func (o Options) strength() float32 {
	if o.Strength == 0 {
		return 1
	}
	return o.Strength
}

func (o Options) check() error {
	finite := func(v float32) bool { return v-v == 0 }
	switch {
	case !finite(o.Alpha) || o.Alpha < 0:
		return fmt.Errorf("alpha %v: a number above 0 is needed", o.Alpha)
	case !finite(o.Strength):
		return fmt.Errorf("strength %v: a number is needed", o.Strength)
	case !finite(o.Scale):
		return fmt.Errorf("scale %v: a number is needed", o.Scale)
	case o.Blocks != "" && !slices.Contains([]string{BlocksColumn, BlocksRow}, o.Blocks):
		return fmt.Errorf("blocks %q: use %s or %s", o.Blocks, BlocksColumn, BlocksRow)
	}
	return nil
}
