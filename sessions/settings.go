package sessions

import (
	"context"
	"fmt"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/statefile"
)

// Settings are the JSON beside a text. What a bad disk has changed of them costs
// themselves, and never the text or the list that they stand in: who reads goes
// on with defaults, and Check says what is lost.

// samplingOrDefault is decodeSampling, or the parameters of a new conversation.
func samplingOrDefault(text string) sampler.Params {
	p, err := decodeSampling(text)
	if err != nil {
		return prompt.FamilyPresets(prompt.FamilyWorld)[0].Sampling
	}
	return p
}

// mixOrNone is decodeMix, or no mix.
func mixOrNone(text string) turn.Mix {
	m, err := decodeMix(text)
	if err != nil {
		return turn.Mix{}
	}
	return m
}

// checkSettings decodes what who reads would go on without.
func (s *Store) checkSettings(ctx context.Context) ([]Problem, error) {
	var bad []Problem
	for _, kind := range []struct {
		query, what string
		decode      func(text [2]string) error
	}{
		{`SELECT id, sampling, mix FROM conversations ORDER BY id`, "the settings of conversation %s, which goes on with the defaults", decodeConversationSettings},
		{`SELECT id, usage, '' FROM turns ORDER BY id`, "how long turn %s took", func(text [2]string) error {
			_, err := decodeUsage(text[0])
			return err
		}},
		{`SELECT name, mix, '' FROM mixes ORDER BY name`, "the saved mix %s", func(text [2]string) error {
			_, err := decodeMix(text[0])
			return err
		}},
		{`SELECT name, options, '' FROM adapters ORDER BY fingerprint`, "how the adapter %s is used", func(text [2]string) error {
			_, err := decodeAdapter(text[0])
			return err
		}},
		{`SELECT id, variants, '' FROM votes ORDER BY id`, "vote %s", func(text [2]string) error {
			_, err := decodeVariants(text[0])
			return err
		}},
	} {
		rows, err := s.read.QueryContext(ctx, kind.query)
		if err != nil {
			return bad, err
		}
		_, err = collect(rows, func(row scanner) (none, error) {
			var name string
			var text [2]string
			err := row.Scan(&name, &text[0], &text[1])
			if derr := kind.decode(text); err == nil && derr != nil {
				bad = append(bad, Problem{What: fmt.Sprintf(kind.what+": %v", name, brief{derr}), Lost: true})
			}
			return none{}, err
		})
		if err != nil {
			return bad, err
		}
	}
	return bad, nil
}

func decodeConversationSettings(text [2]string) error {
	_, serr := decodeSampling(text[0])
	_, merr := decodeMix(text[1])
	if serr != nil {
		return serr
	}
	return merr
}

// checkStates reads every state of the library, one at a time.
func (s *Store) checkStates(ctx context.Context) ([]Problem, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, name, shape, tokens, data FROM states ORDER BY id`)
	if err != nil {
		return nil, err
	}
	var bad []Problem
	_, err = collect(rows, func(row scanner) (none, error) {
		var id turn.ID
		var name string
		var shape, tokens []byte
		var from unpacked
		if err := row.Scan(&id, &name, &shape, &tokens, &from); err != nil {
			return none{}, err
		}
		if err := checkState(shape, tokens, &from); err != nil {
			bad = append(bad, Problem{What: fmt.Sprintf("the state %.100q (%d) of the library: %v", name, id, brief{err}), Lost: true})
		}
		return none{}, nil
	})
	return bad, err
}

// checkState says what is wrong with a state of the library.
func checkState(shape, tokens []byte, from *unpacked) error {
	if from.err != nil {
		return from.err
	}
	if _, err := statefile.UnmarshalShape(shape); err != nil {
		return err
	}
	read, err := decodeTokens(tokens)
	if err != nil {
		return err
	}
	return infer.CheckTokens("token", read, infer.MostTokens)
}
