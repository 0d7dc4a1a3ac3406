package sessions

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/grammar"
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

// encodeForm is a form as JSON; none is an empty text.
func encodeForm(spec grammar.Spec) (string, error) {
	if spec.Kind == grammar.KindNone {
		return "", nil
	}
	return encode(spec)
}

// decodeForm is the inverse of encodeForm.
func decodeForm(text string) (spec grammar.Spec, err error) {
	if text == "" {
		return spec, nil
	}
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return grammar.Spec{}, fmt.Errorf("form: %w (%w)", ErrDamaged, err)
	}
	return spec, nil
}

// formOrNone is decodeForm, or no form.
func formOrNone(text string) grammar.Spec {
	spec, err := decodeForm(text)
	if err != nil {
		return grammar.Spec{}
	}
	return spec
}

// checkSettings decodes what who reads would go on without.
func (s *Store) checkSettings(ctx context.Context) ([]Problem, error) {
	var bad []Problem
	for _, kind := range []struct {
		query, what string
		decode      func(text [2]string) error
	}{
		{`SELECT id, sampling, mix FROM conversations ORDER BY id`, "the settings of conversation %s, which goes on with the defaults", decodeConversationSettings},
		{`SELECT id, form, '' FROM conversations ORDER BY id`, "the form of the answers in conversation %s", func(text [2]string) error {
			_, err := decodeForm(text[0])
			return err
		}},
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
		{`SELECT name, shape, hex(tokens) FROM states ORDER BY id`, "the state %s of the library", decodeStateFacts},
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

// decodeStateFacts decodes the shape of a state of the library and, in
// hexadecimal, the tokens that it has read.
func decodeStateFacts(text [2]string) error {
	if _, err := statefile.UnmarshalShape([]byte(text[0])); err != nil {
		return err
	}
	data, err := hex.DecodeString(text[1])
	if err != nil {
		return err
	}
	tokens, err := decodeTokens(data)
	if err != nil {
		return err
	}
	return infer.CheckTokens("token", tokens, infer.MostTokens)
}
