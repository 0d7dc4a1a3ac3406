package infer

import "time"

// How long the prompt part of a step may take, and the tokens it has while
// nothing is known of the device. Somebody watching an answer sees one pause
// of aloneTime when a prompt appears in another tab, and then tokens at
// intervals of mixedTime; somebody who cancels a prompt waits for aloneTime.
const (
	mixedTime   = 40 * time.Millisecond  // while something decodes
	aloneTime   = 200 * time.Millisecond // while nothing does
	mixedTokens = 4 * quantum
	aloneTokens = 8 * quantum
	paceWeight  = 0.25 // of a new measurement in the running mean
)

// A pace chooses how many prompt tokens a step reads, from how long steps took.
type pace struct {
	fixed    int     // Options.Chunk; 0 adapts
	decode   float64 // seconds of a step that only decodes
	perToken float64 // seconds for one prompt token
	measured bool    // perToken is
}

// chunk is the number of prompt tokens for the next step: whole quanta.
func (p *pace) chunk(decoding bool) int {
	if p.fixed > 0 {
		return p.fixed
	}
	target, tokens := aloneTime, aloneTokens
	if decoding {
		target, tokens = mixedTime, mixedTokens
	}
	if p.measured {
		tokens = maxChunk
		if p.perToken > 0 {
			tokens = int(min(target.Seconds()/p.perToken, maxChunk))
		}
	}
	return max(tokens/quantum*quantum, quantum)
}

// observe learns from a step.
func (p *pace) observe(promptTokens, decodeRows int, took time.Duration) {
	seconds := took.Seconds()
	switch {
	case promptTokens == 0:
		p.decode = mean(p.decode, seconds, p.decode > 0)
	case promptTokens >= quantum: // fewer say nothing of a chunk's cost
		if decodeRows > 0 {
			seconds = max(seconds-p.decode, 0)
		}
		p.perToken = mean(p.perToken, seconds/float64(promptTokens), p.measured)
		p.measured = true
	}
}

func mean(old, value float64, known bool) float64 {
	if !known {
		return value
	}
	return old + paceWeight*(value-old)
}
