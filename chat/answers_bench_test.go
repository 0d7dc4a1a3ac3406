package chat_test

import (
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/prompt"
)

// BenchmarkPanes is the throughput of eight variants of one prompt against one
// of them, the embedded model's states and adapters among them. The two take
// turns, so that what else the machine does counts for both.
func BenchmarkPanes(b *testing.B) {
	const tokens = 96
	settings := answersOf(tokens)
	workspace, _ := demoRoom(b, memstore.New(), settings)
	eight := demoVariants(b, workspace, 7)[:5] // a mix has two rows
	for _, heat := range []float32{0.5, 1, 1.2} {
		warm := eight[0]
		warm.Sampling.Temperature = heat
		eight = append(eight, warm)
	}
	for i := range eight {
		eight[i].Sampling.Ban = []int32{0}
	}
	rate := func(variants []chat.Variant) (float64, time.Duration) {
		begun := time.Now()
		answers, err := workspace.Answers(b.Context(), prompt.QuestionOf("Tell me a story about a brave cat."), variants)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, a := range answers {
			n += a.Usage.Generated
		}
		return float64(n), time.Since(begun)
	}
	var one, all float64
	var oneTime, allTime time.Duration
	for b.Loop() {
		n, d := rate(eight[:1])
		one, oneTime = one+n, oneTime+d
		n, d = rate(eight)
		all, allTime = all+n, allTime+d
	}
	b.ReportMetric(one/oneTime.Seconds(), "tok/s-of-1")
	b.ReportMetric(all/allTime.Seconds(), "tok/s-of-8")
	b.ReportMetric(all/allTime.Seconds()/(one/oneTime.Seconds()), "times")
	b.ReportMetric(0, "ns/op")
}
