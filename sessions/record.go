package sessions

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
)

// decodeSampling is the inverse of encode for sampling parameters.
func decodeSampling(text string) (sampler.Params, error) {
	var p sampler.Params
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return sampler.Params{}, fmt.Errorf("sampling parameters: %w (%w)", ErrDamaged, err)
	}
	if err := p.Validate(); err != nil {
		return sampler.Params{}, fmt.Errorf("sampling parameters: %w", err)
	}
	return p, nil
}

// usageRecord is infer.Usage as stored; times in nanoseconds.
type usageRecord struct {
	Read       int           `json:"read"`
	Generated  int           `json:"generated"`
	ReadTime   time.Duration `json:"read_ns"`
	DecodeTime time.Duration `json:"decode_ns"`
	FirstToken time.Duration `json:"first_token_ns"`
}

func encodeUsage(u infer.Usage) (string, error) { return encode(usageRecord(u)) }

func decodeUsage(text string) (infer.Usage, error) {
	var r usageRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return infer.Usage{}, fmt.Errorf("usage: %w (%w)", ErrDamaged, err)
	}
	return infer.Usage(r), nil
}

func encode(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("storing parameters: %w", err)
	}
	return string(data), nil
}

func encodeTokens(tokens []int32) []byte {
	data := make([]byte, 0, 4*len(tokens))
	for _, t := range tokens {
		data = binary.LittleEndian.AppendUint32(data, uint32(t))
	}
	return data
}

func decodeTokens(data []byte) ([]int32, error) {
	if len(data)%4 != 0 {
		return nil, fmt.Errorf("tokens: %w (%d bytes)", ErrDamaged, len(data))
	}
	tokens := make([]int32, len(data)/4)
	for i := range tokens {
		tokens[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return tokens, nil
}

func encodeTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func decodeTime(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
