package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// batches records what is asked for and answers two prompts.
type batches struct {
	asked []string
	err   error
}

func (f *batches) answer(ctx context.Context, b Batch) (BatchTable, error) {
	f.asked = append(f.asked, fmt.Sprintf("%s > %s %s", b.Prompts, b.Out, variantNames(b.Variants)))
	b.Progress(1, 2)
	b.Progress(2, 2)
	table := BatchTable{{"VARIANT", "ANSWERS", "TOKENS"}}
	for i, v := range b.Variants {
		table = append(table, []string{v.Name, "2", fmt.Sprint(40 + i)})
	}
	return table, errors.Join(f.err, ctx.Err())
}

func TestBatchFromTheSetup(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 60}} {
		f := &batches{}
		b := newBench(t, compareDesks(), Settings{}, size[0], size[1])
		b.m.options.Batch = f.answer
		b.press("f12", "f")
		b.check()
		b.typeText("/tmp/p.jsonl")
		b.press("enter")
		b.sees("Write the answers to")
		b.check()
		b.press("enter")
		b.check()
		if len(f.asked) != 1 || f.asked[0] != "/tmp/p.jsonl > /tmp/p.answers.jsonl seed 1|seed 2" {
			t.Fatalf("asked for %q", f.asked)
		}
		b.sees("2 prompts answered")
		b.sees("VARIANT")
		b.sees("seed 2")
		b.press("enter")
		b.seesNot("prompts answered")
		if calls := b.k.open[0].calls; len(calls) > 0 {
			t.Errorf("the conversation was asked %q", calls)
		}
	}
}

func TestBatchThatFails(t *testing.T) {
	f := &batches{err: errors.New("p.jsonl, line 3: it is not UTF-8 text")}
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.m.options.Batch = f.answer
	b.press("f12", "f")
	b.typeText("p.jsonl")
	b.press("enter", "enter")
	b.sees("line 3: it is not UTF-8 text")
	b.press("esc")
	b.seesNot("line 3")

	f.err = nil // stopped while it runs
	b.press("f12", "f")
	b.typeText("p.jsonl")
	b.press("enter")
	_, cmd := b.m.Update(keyNamed(t, "enter"))
	prepared := cmd()
	_, cmd = b.m.Update(prepared)
	b.sees("Answering prompts")
	b.k.stats.Steps, b.k.stats.DecodeRate = 1, 321
	at := now.Add(time.Second)
	b.m.clock = func() time.Time { return at }
	b.send(batchTickMsg{b.m.dialogs[0].(*batching)})
	b.sees("321 tok/s")
	b.press("esc")
	b.do(cmd)
	b.sees("the same goes on from there")
}

func TestBatchWithoutTheProgram(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.press("f12", "f")
	b.sees("answered by `rookery compare` here")
}

func TestPlainBatch(t *testing.T) {
	k, f := compareDesks(), &batches{}
	var said strings.Builder
	p := &plain{ctx: t.Context(), workspace: k, model: fakeEngine{k}.Model(), d: k.open[0], out: &said, options: Options{Batch: f.answer}}
	if err := p.command("compare", "states file=p.jsonl"); err != nil {
		t.Fatal(err)
	}
	if len(f.asked) != 1 || f.asked[0] != "p.jsonl > p.answers.jsonl bare|animals|dialogue|sad" {
		t.Errorf("asked for %q", f.asked)
	}
	for _, want := range []string{"2 prompts are answered; the answers are in p.answers.jsonl.", "sad: answers 2, tokens 43."} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it did not say %q:\n%s", want, said.String())
		}
	}
}

// A prompt that was written for the conversation is not lost with the setup, and
// names are shown whole, however wide their characters are.
func TestBatchLeavesThePrompt(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.m.options.Batch = (&batches{}).answer
	b.press("f12", "w", "H", "i", "enter", "r")
	b.typeText("很长的中文名字")
	b.press("enter", "f")
	b.typeText("p.jsonl")
	b.press("enter", "enter")
	b.sees("│ 很长的中文名字  2 ")
	b.press("esc")
	b.sees("› Hi")
}
