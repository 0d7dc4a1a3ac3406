package kit

import (
	"fmt"
	"strings"

	"rookery/infer/sampler"
)

// FormatSampling writes sampling parameters but for the seed: temp=0.8 top_p=0.5.
func FormatSampling(p sampler.Params) string {
	var parts []string
	for _, f := range sampler.Fields {
		if f.Recipe && f.Command != "" && !f.IsOff(p) {
			parts = append(parts, fmt.Sprintf("%s=%.3g", f.Command, f.Number(p)))
		}
	}
	return strings.Join(parts, " ")
}

// SummariseSampling is the parameters that people look at first, in one line.
func SummariseSampling(p sampler.Params) string {
	var parts []string
	for _, f := range p.Brief() {
		parts = append(parts, fmt.Sprintf("%s %.4g", f.Command, f.Number(p)))
	}
	return strings.Join(parts, " · ")
}
