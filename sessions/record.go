package sessions

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
)

// samplingRecord is sampler.Params as stored. Names are part of the schema.
type samplingRecord struct {
	Mode        string  `json:"mode"`
	Temperature float32 `json:"temperature"`
	TopK        int     `json:"top_k"`
	TopP        float32 `json:"top_p"`
	Presence    float32 `json:"presence"`
	Frequency   float32 `json:"frequency"`
	Decay       float32 `json:"decay"`
	Seed        uint64  `json:"seed"`
	Ban         []int32 `json:"ban,omitempty"`
}

func encodeSampling(p sampler.Params) (string, error) {
	return encode(samplingRecord{p.Mode.String(), p.Temperature, p.TopK, p.TopP, p.Presence, p.Frequency, p.Decay, p.Seed, p.Ban})
}

func decodeSampling(text string) (sampler.Params, error) {
	var r samplingRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return sampler.Params{}, fmt.Errorf("sampling parameters: %w (%w)", ErrDamaged, err)
	}
	mode, err := sampler.ParseMode(r.Mode)
	if err != nil {
		return sampler.Params{}, fmt.Errorf("sampling parameters: %w", err)
	}
	p := sampler.Params{
		Mode: mode, Temperature: r.Temperature, TopK: r.TopK, TopP: r.TopP,
		Presence: r.Presence, Frequency: r.Frequency, Decay: r.Decay, Seed: r.Seed, Ban: r.Ban,
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
