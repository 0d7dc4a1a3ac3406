package compare

import (
	"context"
	"math"

	"rookery/infer"
)

// Score says how likely an answer is for a reference.
type Score struct {
	LogProbs []float32 // natural logarithms, of each of the answer's tokens, the stop left out
}

// Perplexity is exp(-mean of the log-probabilities): 1 for an answer that is
// certain, the size of the vocabulary for one that is as good as noise. It is
// NaN without tokens.
func (s Score) Perplexity() float64 {
	sum := 0.0
	for _, p := range s.LogProbs {
		sum += float64(p)
	}
	return math.Exp(-sum / float64(len(s.LogProbs)))
}

// An Engine is what scoring needs of one.
type Engine interface {
	Submit(infer.Request) (*infer.Stream, error)
}

// ScoreTexts says how likely texts are that all follow what a request reads.
// They are rows of the same steps. When ctx ends, all are cancelled.
func ScoreTexts(ctx context.Context, e Engine, r infer.Request, texts [][]int32) ([]Score, error) {
	scores := make([]Score, len(texts))
	streams := make([]*infer.Stream, len(texts))
	var err error
	for i, tokens := range texts {
		if len(tokens) == 0 || err != nil {
			continue
		}
		r.Score = tokens
		streams[i], err = e.Submit(r)
	}
	for i, s := range streams {
		if s == nil {
			continue
		}
		if err != nil {
			s.Cancel()
		}
		end, failed := s.Wait(ctx)
		if err == nil {
			err = failed
		}
		scores[i] = Score{LogProbs: end.Scores}
	}
	if err != nil {
		return nil, err
	}
	return scores, nil
}
