package infer

import "time"

// How long the prompt part of a step may take, and how many tokens it has before
// the speed of the device is known. If a prompt begins while an answer decodes,
// the answer pauses once for aloneTime and then goes on with a token every
// mixedTime. Cancelling a prompt takes aloneTime.
const (
	mixedTime   = 40 * time.Millisecond  // while a request decodes
	aloneTime   = 200 * time.Millisecond // while none does
	mixedTokens = 4 * quantum
	aloneTokens = 8 * quantum
	paceWeight  = 0.25 // of a new measurement in the exponential moving average
)

// A pace chooses how many prompt tokens a step reads from how long steps took.
type pace struct {
	fixed    int     // Options.Chunk; 0 adapts
	decode   float64 // seconds of a step that only decodes
	perToken float64 // seconds for one prompt token
	measured bool    // perToken is valid
}

// chunk is the number of prompt tokens for the next step, in whole quanta.
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

// observe updates the means with one step.
func (p *pace) observe(promptTokens, decodeRows int, took time.Duration) {
	seconds := took.Seconds()
	switch {
	case promptTokens == 0:
		p.decode = mean(p.decode, seconds, p.decode > 0)
	case promptTokens >= quantum: // the cost of fewer is not that of a chunk
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
