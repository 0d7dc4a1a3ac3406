package cpu

import (
	"fmt"
	"testing"

	"rookery/infer"
	"rookery/infer/rwkv"
)

// The shape of the released 0.1B models.
var shape01B = rwkv.Released()["0.1b"]

// BenchmarkDecode steps rows by one token and computes the logits, without
// sampling.
func BenchmarkDecode(b *testing.B) {
	for _, rows := range []int{1, 8} {
		benchmark(b, rows, 1)
	}
}

// BenchmarkPrefill reads 512 tokens.
func BenchmarkPrefill(b *testing.B) { benchmark(b, 1, 512) }

func benchmark(b *testing.B, n, tokens int) {
	for _, weights := range []string{"fp16", "int8"} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/rows=%d/tokens=%d/threads=%d", weights, n, tokens, threads), func(b *testing.B) {
				backend := synthetic(b, shape01B, 1, Options{Threads: threads, Weights: weights})
				rows := make([]infer.Row, n)
				for i := range rows {
					rows[i] = infer.Row{Slot: infer.Slot(i), Tokens: goldenTokens(tokens, shape01B.Vocab), Logits: make([]float32, shape01B.Vocab)}
				}
				drawn := make([]infer.Drawn, n)
				for b.Loop() {
					if err := backend.Step(rows, drawn); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n*tokens*b.N)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}
