package main

import (
	"fmt"

	"rookery/config"
	"rookery/infer/native"
)

// A peaksReport is what the card reached in the same run, if it was measured.
type peaksReport struct {
	Copy   float64 `json:"copy_bytes_per_second"`
	Matrix float64 `json:"matrix_flop_per_second"`
	Upload float64 `json:"upload_bytes_per_second"`
}

// text is a line for people; of nil, nothing.
func (p *peaksReport) text() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("the card reached %.0f GB/s in a copy, %.0f TFLOP/s in a product, %.1f GB/s from the host\n", p.Copy/1e9, p.Matrix/1e12, p.Upload/1e9)
}

// gpuPeaks measures the card that a model will be loaded to. Without one, or
// where it cannot be measured, there is nothing to hold figures against.
func gpuPeaks(c config.Config) *peaksReport {
	if c.Engine.Backend == "cpu" {
		return nil
	}
	l, err := native.Open()
	if err != nil {
		return nil
	}
	p, err := l.Peaks()
	if err != nil {
		return nil
	}
	return &peaksReport{Copy: p.Copy, Matrix: p.Matrix, Upload: p.Upload}
}
