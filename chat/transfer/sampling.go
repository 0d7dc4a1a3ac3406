package transfer

import "rookery/infer/sampler"

type exportSampling struct {
	Mode        string  `json:"mode"`
	Temperature float32 `json:"temperature"`
	TopK        int     `json:"top_k"`
	TopP        float32 `json:"top_p"`
	Presence    float32 `json:"presence_penalty"`
	Frequency   float32 `json:"frequency_penalty"`
	Decay       float32 `json:"penalty_decay"`
	Seed        uint64  `json:"seed"`
	Ban         []int32 `json:"ban,omitempty"`
}

func exportedSampling(p sampler.Params) exportSampling {
	return exportSampling{
		Mode: p.Mode.String(), Temperature: p.Temperature, TopK: p.TopK, TopP: p.TopP,
		Presence: p.Presence, Frequency: p.Frequency, Decay: p.Decay, Seed: p.Seed, Ban: p.Ban,
	}
}

func (e exportSampling) params() (sampler.Params, error) {
	mode, err := sampler.ParseMode(e.Mode)
	if err != nil {
		return sampler.Params{}, err
	}
	p := sampler.Params{
		Mode: mode, Temperature: e.Temperature, TopK: e.TopK, TopP: e.TopP,
		Presence: e.Presence, Frequency: e.Frequency, Decay: e.Decay, Seed: e.Seed, Ban: e.Ban,
	}
	return p, p.Validate()
}
