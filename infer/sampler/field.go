package sampler

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Field describes one sampling parameter. Its methods read and change that
// parameter in Params.
type Field struct {
	Name    string   // in configurations, JSON and flags: "top_p"
	Label   string   // in a sentence: "presence penalty"
	Help    string   // an imperative of at most 50 characters
	About   string   // one or two sentences for a person who has not met it
	Command string   // the slash command that sets it; "" is none
	Aliases []string // names that are read beside Name, such as OpenAI's
	Choices []Choice // of a Mode

	Least, Most float64 // of a number: what is valid
	Default     float64 // follows the model
	Off         float64 // the value that does nothing, or never
	Zero        string  // what people call zero, if not 0
	Slider      Slider

	Brief  bool              // is in one-line summaries, unless it is zero and off
	Recipe bool              // is part of presets; two ways to draw that differ in it are not the same
	Idle   func(Params) bool // says that other parameters leave it without effect; nil is never

	// HostOnly says that a device's rows have no place for the parameter. Where
	// it is not off the host draws, from the logits that the device returns:
	// the same tokens, more slowly.
	HostOnly bool

	at func(*Params) any // points to a float32, int, uint64, Mode, []int32 or Biases
}

// A Slider is how arrows and a bar change a number. The zero Slider is none.
type Slider struct {
	Fine, Coarse float64 // steps
	Least, Most  float64 // what the steps reach
	Full         float64 // where the bar is full
	Digits       int     // after the point, at least
}

// FieldNamed returns the field of a key of the configuration.
func FieldNamed(name string) (*Field, bool) {
	f, ok := FindField(name)
	return f, ok && f.Name == name
}

// FindField returns the field with a name, a command or an alias.
func FindField(name string) (*Field, bool) {
	for _, f := range Fields {
		if f.Name == name || f.Command == name && name != "" || slices.Contains(f.Aliases, name) {
			return f, true
		}
	}
	return nil, false
}

// A Kind is the type of a parameter's values.
type Kind uint8

// The kinds.
const (
	Float  Kind = iota // float32
	Whole              // int
	Stream             // uint64: the number of a random stream
	Chosen             // Mode
	Tokens             // []int32
	Biased             // Biases
)

// Kind is the type of the field's values.
func (f *Field) Kind() Kind {
	switch f.at(new(Params)).(type) {
	case *float32:
		return Float
	case *int:
		return Whole
	case *uint64:
		return Stream
	case *Mode:
		return Chosen
	case *Biases:
		return Biased
	}
	return Tokens
}

// IsList says that the values are lists of tokens, not numbers or names.
func (f *Field) IsList() bool { return f.Kind() == Tokens || f.Kind() == Biased }

// Number is the value as a number; tokens are counted.
func (f *Field) Number(p Params) float64 {
	switch v := f.at(&p).(type) {
	case *float32:
		return float64(*v)
	case *int:
		return float64(*v)
	case *uint64:
		return float64(*v)
	case *Mode:
		return float64(*v)
	case *[]int32:
		return float64(len(*v))
	case *Biases:
		return float64(len(*v))
	}
	return 0
}

// SetNumber sets a Float or a Whole, rounded to what it can be.
func (f *Field) SetNumber(p *Params, x float64) {
	switch v := f.at(p).(type) {
	case *float32:
		*v = float32(x)
	case *int:
		*v = int(math.Round(x))
	}
}

// Set sets what a decoder of TOML or JSON returned, and checks it.
func (f *Field) Set(p *Params, value any) error {
	data, err := json.Marshal(value)
	if err == nil {
		err = f.setJSON(p, data)
	}
	if err != nil {
		return fmt.Errorf("%v is not %s", value, f.wanted())
	}
	return f.Check(*p)
}

func (f *Field) setJSON(p *Params, data []byte) error { return json.Unmarshal(data, f.at(p)) }

// Parse sets what a person wrote, and checks it.
func (f *Field) Parse(p *Params, text string) (err error) {
	switch v := f.at(p).(type) {
	case *float32:
		var x float64
		x, err = strconv.ParseFloat(text, 32)
		*v = float32(x)
	case *int:
		*v, err = strconv.Atoi(text)
	case *uint64:
		*v, err = strconv.ParseUint(text, 10, 64)
	case *Mode:
		*v, err = ParseMode(text)
	case *Biases:
		err = json.Unmarshal([]byte(text), v)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return fmt.Errorf("%q is not %s", text, f.wanted())
	}
	return f.Check(*p)
}

// Format is the value as Parse reads it.
func (f *Field) Format(p Params) string {
	if f.Kind() == Float {
		return strconv.FormatFloat(f.Number(p), 'f', -1, 32)
	}
	return strings.Trim(string(f.text(p)), `"`)
}

// TOML is a line of a configuration that sets the value.
func (f *Field) TOML(p Params) string {
	value := f.Format(p)
	switch kind := f.Kind(); {
	case kind == Chosen:
		value = strconv.Quote(value)
	case kind == Float && !strings.Contains(value, "."):
		value += ".0"
	}
	return f.Name + " = " + value
}

// wanted is what a value must be.
func (f *Field) wanted() string {
	switch f.Kind() {
	case Float:
		return "a number"
	case Whole:
		return "a whole number"
	case Stream:
		return "a whole number from 0 up"
	case Chosen:
		return "one of " + strings.Join(f.choices(), ", ")
	}
	if f.Kind() == Biased {
		return "numbers by token ids"
	}
	return "a list of token ids"
}

func (f *Field) choices() (names []string) {
	for _, c := range f.Choices {
		names = append(names, c.Name)
	}
	return names
}

// Range is what the command is given: "0 to 1".
func (f *Field) Range() string {
	switch {
	case f.Choices != nil:
		return strings.Join(f.choices(), ", ")
	case f.Kind() != Float || math.IsInf(f.Least, -1):
		return "number"
	case f.Most >= maxTemperature:
		return fmt.Sprintf("%g or more", f.Least)
	}
	return fmt.Sprintf("%g to %g", f.Least, f.Most)
}

// Check says in one line what is wrong with the value, or nil.
func (f *Field) Check(p Params) error {
	if f.Kind() == Tokens {
		ids, ok := f.at(&p).(*[]int32)
		if ok && len(*ids) > 0 && slices.Min(*ids) < 0 {
			return fmt.Errorf("%s must be token ids, not %d", f.Label, slices.Min(*ids))
		}
		return nil
	}
	if f.Kind() == Biased {
		for _, b := range p.Bias {
			if b.Token < 0 || !finite(b.Add) {
				return fmt.Errorf("%s must be numbers by token ids, not %v of %d", f.Label, b.Add, b.Token)
			}
		}
		return nil
	}
	x := f.Number(p)
	switch {
	case f.Choices != nil:
		if int(x) >= len(f.Choices) {
			return fmt.Errorf("%s must be %s", f.Label, f.wanted())
		}
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Errorf("%s must be a number, not %v", f.Label, x)
	case x >= f.Least && x <= f.Most:
	case math.IsInf(f.Most, 1):
		return fmt.Errorf("%s must be %g or more, not %v", f.Label, f.Least, f.Format(p))
	default:
		return fmt.Errorf("%s must be between %g and %g, not %v", f.Label, f.Least, f.Most, f.Format(p))
	}
	return nil
}

// IsOff says whether the parameter changes no draw.
func (f *Field) IsOff(p Params) bool {
	return f.Number(p) == f.Off || f.Idle != nil && f.Idle(p)
}

// isUnset says whether the parameter is zero and off.
func (f *Field) isUnset(p Params) bool { return f.Number(p) == 0 && f.IsOff(p) }

// text is the value as JSON, which Set reads; nil for what is not a number.
func (f *Field) text(p Params) json.RawMessage {
	data, err := json.Marshal(f.at(&p))
	switch {
	case err != nil:
		return nil
	case f.Kind() == Tokens && len(p.Ban) == 0:
		return json.RawMessage("[]")
	}
	return data
}

// copyTo copies a valid value from one set of parameters to another.
func (f *Field) copyTo(to *Params, from Params) {
	if err := f.setJSON(to, f.text(from)); err != nil {
		f.SetNumber(to, f.Number(from)) // NaN, which JSON does not have
	}
}
