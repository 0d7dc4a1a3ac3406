package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"rookery/chat"
	"rookery/config"
	"rookery/ui"
)

// batchRows are the answers of a batch that run at once, beside whatever else
// the chat does.
const batchRows = 16

// answerBatch answers the prompts of a file for the chat, as `rookery compare`
// does; the first variant judges. What is written so far stays after an error.
func answerBatch(ctx context.Context, workspace *chat.Workspace, c config.Config, o ui.Batch) (_ ui.BatchTable, err error) {
	b := &comparison{samples: 1, rows: batchRows}
	for _, v := range o.Variants {
		b.addContestant(contestant{variantSpec{Name: v.Name}, v, workspace})
	}
	b.addSettings(c)
	f, err := os.Open(o.Prompts)
	if err != nil {
		return nil, err
	}
	prompts, err := readPrompts(f, filepath.Base(o.Prompts))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	out, results, err := b.resumeFile(o.Out, prompts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	o.Progress(len(results), len(prompts))
	err = b.answerAll(ctx, prompts[len(results):], func(r comparedJSON) error {
		results = append(results, r)
		o.Progress(len(results), len(prompts))
		return writeLine(out, r)
	})
	if err != nil {
		return nil, err
	}
	return tableCells(b.summarizeResults(results), true), nil
}
