package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A summaryJSON sums up the answers of one variant. docs/compare.md documents it.
type summaryJSON struct {
	Variant    string   `json:"variant"`
	Answers    int      `json:"answers"`
	Tokens     int      `json:"tokens"` // generated
	Rate       float64  `json:"tokens_per_second"`
	First      float64  `json:"first_token_seconds"`              // mean
	Same       int      `json:"same_as_first"`                    // answers that equal the first variant's
	Difference *float64 `json:"first_difference_token,omitempty"` // median of the others
	Byte       *float64 `json:"first_difference_byte,omitempty"`  // likewise, where the tokenizers differ
	Perplexity *float64 `json:"perplexity,omitempty"`             // of all tokens together
}

// summarizeResults sums up results, variant by variant.
func (b *comparison) summarizeResults(results []comparedJSON) []summaryJSON {
	var table []summaryJSON
	for i, c := range b.contestants {
		s := summaryJSON{Variant: c.spec.Name}
		var seconds, first, logProb float64
		judged := 0
		var tokens, bytes []int
		for _, r := range results {
			for _, a := range r.answersOf(c.spec.Name) {
				s.Answers++
				s.Tokens += a.Usage.Generated
				seconds, first = seconds+a.Usage.WriteSeconds, first+a.Usage.FirstSeconds
				if a.Perplexity != nil {
					judged += len(a.Tokens)
					logProb -= math.Log(*a.Perplexity) * float64(len(a.Tokens))
				}
				switch d := a.Difference; {
				case d != nil && d.Token < 0: // of models with different tokenizers
					bytes = append(bytes, d.Byte)
				case d != nil:
					tokens = append(tokens, d.Token)
				case i > 0:
					s.Same++
				}
			}
		}
		if s.Answers > 0 {
			s.First = first / float64(s.Answers)
		}
		if seconds > 0 {
			s.Rate = float64(s.Tokens) / seconds
		}
		s.Difference, s.Byte = median(tokens), median(bytes)
		if judged > 0 {
			p := math.Exp(-logProb / float64(judged))
			s.Perplexity = &p
		}
		table = append(table, s)
	}
	return table
}

func median(v []int) *float64 {
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	m := float64(v[(len(v)-1)/2]+v[len(v)/2]) / 2
	return &m
}

// printTable prints a summary for people.
func printTable(w io.Writer, list []summaryJSON, judged bool) error {
	t := newTable(w)
	for _, row := range tableCells(list, judged) {
		t.add("%s\n", strings.Join(row, "\t"))
	}
	return t.Flush()
}

// tableCells returns a summary for people; the first row names the columns.
func tableCells(table []summaryJSON, judged bool) [][]string {
	heads := []string{"VARIANT", "ANSWERS", "TOKENS", "TOK/S EACH", "FIRST TOKEN", "DIFFERS AT", "SAME"}
	if judged {
		heads = append(heads, "PERPLEXITY")
	}
	cells := [][]string{heads}
	for i, s := range table {
		differs, same := "-", "-"
		switch {
		case s.Difference != nil:
			differs = fmt.Sprintf("token %.4g", *s.Difference)
		case s.Byte != nil:
			differs = fmt.Sprintf("byte %.4g", *s.Byte)
		}
		if i > 0 {
			same = fmt.Sprint(s.Same)
		}
		row := []string{s.Variant, fmt.Sprint(s.Answers), fmt.Sprint(s.Tokens), fmt.Sprintf("%.4g", s.Rate), fmt.Sprintf("%.3g s", s.First), differs, same}
		if judged {
			perplexity := "-"
			if s.Perplexity != nil {
				perplexity = fmt.Sprintf("%.4g", *s.Perplexity)
			}
			row = append(row, perplexity)
		}
		cells = append(cells, row)
	}
	return cells
}
