package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// A comparedJSON is one prompt with its answers: a line of `compare --jsonl`.
// docs/compare.md documents it.
type comparedJSON struct {
	Run      string           `json:"run"`  // hash of everything that the answers depend on
	Line     int              `json:"line"` // in the file of prompts
	Messages []messageJSON    `json:"messages"`
	Answers  []comparedAnswer `json:"answers"`
}

// comparedAnswer is one answer of a comparedJSON.
type comparedAnswer struct {
	Variant    string          `json:"variant"`
	Sample     int             `json:"sample"`
	Seed       uint64          `json:"seed"`
	Model      string          `json:"model"`
	Text       string          `json:"text"`
	Tokens     []int32         `json:"tokens"`
	Reason     string          `json:"reason"`
	Rate       float64         `json:"tokens_per_second"`
	Difference *differenceJSON `json:"first_difference,omitempty"` // from the first variant's answer
	Perplexity *float64        `json:"perplexity,omitempty"`
	Usage      usageJSON       `json:"usage"`
}

type differenceJSON struct {
	Token int `json:"token"` // -1: the models have different tokenizers
	Byte  int `json:"byte"`
}

// makeResult makes the line of a prompt.
func (b *comparison) makeResult(p promptLine, all []answered) comparedJSON {
	out := comparedJSON{Run: b.runHash(), Line: p.line, Messages: messagesOf(p.question)}
	for i, a := range all {
		c, u := b.contestants[a.contestant], a.Usage
		line := comparedAnswer{
			Variant: c.spec.Name, Sample: a.sample, Seed: a.Variant.Sampling.Seed, Model: c.model().Name,
			Text: a.Text, Tokens: a.Tokens, Reason: a.Reason.String(), Rate: u.Rate(),
			Usage: usageJSON{u.Read, u.Generated, u.ReadTime.Seconds(), u.DecodeTime.Seconds(), u.FirstToken.Seconds()},
		}
		if d := a.FirstDifference(all[i-a.contestant].VariantAnswer); a.contestant > 0 && d.Found {
			line.Difference = &differenceJSON{d.Token, d.Byte}
		}
		if !math.IsNaN(a.perplexity) && !math.IsInf(a.perplexity, 0) {
			line.Perplexity = &all[i].perplexity
		}
		out.Answers = append(out.Answers, line)
	}
	return out
}

// runHash returns a hash of everything that the answers depend on but the prompts.
func (b *comparison) runHash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s%d %d", b.describes, b.samples, b.reference))
	const enough = 8 // bytes
	return hex.EncodeToString(sum[:enough])
}

// mayBegin reports whether a cut line may be the beginning of a result.
func (b *comparison) mayBegin(line []byte) bool {
	head := []byte(`{"run":"` + b.runHash() + `",`)
	n := min(len(line), len(head))
	return bytes.Equal(line[:n], head[:n])
}

// belongsTo reports whether a line of results belongs to a prompt.
func (r *comparedJSON) belongsTo(p promptLine) bool {
	a, errA := json.Marshal(r.Messages)
	b, errB := json.Marshal(messagesOf(p.question))
	return errA == nil && errB == nil && r.Line == p.line && bytes.Equal(a, b)
}

// maxResultLine limits a line of results that is read again.
const maxResultLine = 1 << 28

// openResults opens or makes a file of results. A pipe without a reader would never
// open.
func openResults(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: name another one for the results", path)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // results are for everybody
}

// resumeFile opens a file of results, reads the results of the first prompts that it
// has, and returns it ready to append. It removes a cut last line. It refuses a file
// that has anything else, and does not change it.
func (b *comparison) resumeFile(path string, prompts []promptLine) (_ *os.File, done []comparedJSON, err error) {
	f, err := openResults(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	end := int64(0)
	lines := newLineReader(f, maxResultLine)
	for {
		line, whole, err := lines.readLine()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if !whole && b.mayBegin(line) {
			break
		}
		var r comparedJSON
		if !whole || json.Unmarshal(line, &r) != nil || r.Run == "" {
			return nil, nil, fmt.Errorf("%s, line %d: these are no results of `rookery compare`: choose another file", path, len(done)+1)
		}
		if n := len(done); r.Run != b.runHash() || n >= len(prompts) || !r.belongsTo(prompts[n]) {
			return nil, nil, fmt.Errorf("%s, line %d: these are results of other variants, settings or prompts: choose another file, or remove it", path, n+1)
		}
		done, end = append(done, r), end+int64(len(line))
	}
	if err := f.Truncate(end); err != nil {
		return nil, nil, err
	}
	_, err = f.Seek(end, io.SeekStart)
	return f, done, err
}

// writeLine writes v as one line of JSON.
func writeLine(w io.Writer, v any) error {
	var line bytes.Buffer
	out := json.NewEncoder(&line)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(line.Bytes()) // at once, so that an interruption cuts few lines
	return err
}

// answersOf returns the answers of one variant to the prompt.
func (r *comparedJSON) answersOf(name string) (list []comparedAnswer) {
	for _, a := range r.Answers {
		if a.Variant == name {
			list = append(list, a)
		}
	}
	return list
}
