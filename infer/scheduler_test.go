package infer

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// vocabularyWith is a vocabulary file of the single bytes and words.
func vocabularyWith(words ...string) []byte {
	var file bytes.Buffer
	for b := range 256 {
		fmt.Fprintf(&file, "%d b'\\x%02x' 1\n", b+1, b)
	}
	for i, w := range words {
		fmt.Fprintf(&file, "%d '%s' %d\n", 257+i, w, len(w))
	}
	return file.Bytes()
}

// reading is a sequence with n tokens to read; 0 is one that decodes.
func reading(slot, n int) *sequence {
	q := &sequence{phase: phaseReading, slot: Slot(slot), unread: make([]int32, n), promptLeft: n}
	if n == 0 {
		q.phase = phaseDecoding
		q.answer.ids = []int32{1}
	}
	return q
}

// planned is the number of tokens of every sequence's row in the next step.
func planned(p *plan, running []*sequence, maxTokens, chunk int) []int {
	p.planStep(running, maxTokens, &pace{fixed: chunk})
	out := make([]int, len(running))
	for i, q := range p.owners {
		out[slices.Index(running, q)] = len(p.rows[i].Tokens)
	}
	p.clear()
	return out
}

// A chunk is made of whole quanta, and of ends of prompts.
func TestPlanSharesAChunk(t *testing.T) {
	tests := []struct {
		name             string
		unread           []int
		maxTokens, chunk int
		want             []int
	}{
		{"alone", []int{1000}, 512, 256, []int{256}},
		{"bounded by the backend", []int{1000}, 100, 256, []int{96}},
		{"decoding rows come first", []int{0, 1000, 0}, 64, 256, []int{1, 48, 1}},
		{"equal shares", []int{1000, 1000, 0}, 512, 64, []int{32, 32, 1}},
		{"a short prompt leaves its share", []int{5, 1000}, 512, 64, []int{5, 48}},
		{"a chunk below a quantum", []int{1000, 0}, 512, 5, []int{5, 1}},
		{"nothing but decoding", []int{0, 0, 0}, 512, 64, []int{1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var running []*sequence
			for i, n := range tt.unread {
				running = append(running, reading(i, n))
			}
			got := planned(&plan{turn: 1}, running, tt.maxTokens, tt.chunk)
			if !slices.Equal(got, tt.want) {
				t.Errorf("rows of %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPlanTakesTurns(t *testing.T) {
	t.Run("reading", func(t *testing.T) {
		running := []*sequence{reading(0, 1000), reading(1, 1000), reading(2, 1000)}
		var p plan
		total := make([]int, len(running))
		for range 30 {
			for i, n := range planned(&p, running, 512, quantum) {
				total[i] += n
			}
		}
		if total[0] != 10*quantum || total[1] != total[0] || total[2] != total[0] {
			t.Errorf("30 chunks were shared as %v", total)
		}
	})
	t.Run("decoding, more rows than fit", func(t *testing.T) {
		var running []*sequence
		for i := range 12 {
			running = append(running, reading(i, 0))
		}
		running = append(running, reading(12, 1000))
		var p plan
		total := make([]int, len(running))
		for range 24 {
			for i, n := range planned(&p, running, 8, 64) {
				total[i] += n
			}
		}
		for i, n := range total {
			if n < 4 {
				t.Errorf("row %d had %d tokens in 24 steps: %v", i, n, total)
			}
		}
	})
}
