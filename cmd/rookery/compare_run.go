package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// writeResults answers the prompts and writes the results as the flags say.
func (b *comparison) writeResults(cmd *cobra.Command, prompts []promptLine, o compareOptions) (err error) {
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	var done []comparedJSON
	var lines []io.Writer
	var f *os.File
	switch {
	case o.out != "" && o.json: // printSummary overwrites what it has at the end
		f, err = openResults(o.out)
	case o.out != "":
		if f, done, err = b.resumeFile(o.out, prompts); err == nil {
			lines = append(lines, f)
		}
	}
	if err != nil {
		return exitWith(exitUsage, err)
	}
	if f != nil {
		defer func() { err = errors.Join(err, f.Close()) }()
	}
	if o.jsonl {
		lines = append(lines, stdout)
		for _, r := range done {
			if err := writeLine(stdout, r); err != nil {
				return err
			}
		}
	}
	results := done
	meter := newMeter(stderr)
	err = b.answerAll(cmd.Context(), prompts[len(done):], func(r comparedJSON) error {
		results = append(results, r)
		for _, w := range lines {
			if err := writeLine(w, r); err != nil {
				return err
			}
		}
		meter.showCount("comparing", len(results), len(prompts), "prompts")
		return nil
	})
	meter.clear()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil && len(results) < len(prompts) {
		_, _ = fmt.Fprintf(stderr, "interrupted after %d of %d prompts%s\n", len(results), len(prompts), resumeHint(o))
	}
	if err != nil && len(results) == 0 {
		return err
	}
	return errors.Join(err, b.printSummary(cmd, results, o, f))
}

// resumeHint says how to go on after an interruption, if that is possible.
func resumeHint(o compareOptions) string {
	if o.out != "" && !o.json {
		return ": the same command goes on from there"
	}
	return ""
}

// printSummary prints the table or, with --json, everything as one object, to f if it
// is not nil.
func (b *comparison) printSummary(cmd *cobra.Command, results []comparedJSON, o compareOptions, f *os.File) error {
	table := b.summarizeResults(results)
	switch {
	case o.json:
		w := cmd.OutOrStdout()
		if f != nil {
			if err := emptyFile(f); err != nil {
				return err
			}
			w = f
		}
		return printJSON(w, struct {
			Summary []summaryJSON  `json:"summary"`
			Results []comparedJSON `json:"results"`
		}{table, results})
	case o.jsonl:
		return printTable(cleaned(cmd.ErrOrStderr()), table, b.reference >= 0)
	}
	return printTable(cmd.OutOrStdout(), table, b.reference >= 0)
}

// emptyFile truncates a regular file; it leaves pipes and devices alone.
func emptyFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// answerAll answers the prompts, several at a time so that the engines have enough
// rows, and passes the results to give in the order of the prompts.
func (b *comparison) answerAll(ctx context.Context, prompts []promptLine, give func(comparedJSON) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		all []answered
		err error
	}
	atOnce := max(b.rows/(b.samples*len(b.contestants)), 1)
	results := make(chan chan outcome, atOnce-1)
	go func() {
		defer close(results)
		for _, p := range prompts {
			one := make(chan outcome, 1)
			select {
			case results <- one:
			case <-ctx.Done():
				return
			}
			go func() {
				all, err := b.answerPrompt(ctx, p.question)
				one <- outcome{all, err}
			}()
		}
	}()
	var failed error
	n := 0
	for one := range results { // to the end, so that no goroutine is left
		o := <-one
		if failed == nil && o.err != nil {
			failed = o.err
			if !errors.Is(o.err, context.Canceled) {
				failed = fmt.Errorf("the prompt of line %d: %w", prompts[n].line, o.err)
			}
		} else if failed == nil {
			failed = give(b.makeResult(prompts[n], o.all))
		}
		if n++; failed != nil {
			cancel()
		}
	}
	if failed == nil && n < len(prompts) {
		failed = ctx.Err()
	}
	return failed
}
