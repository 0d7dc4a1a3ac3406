package main

import (
	"fmt"

	"rookery/config"
	"rookery/infer/native"
)

// A peaksReport holds the rates that the card reached in the same run.
type peaksReport struct {
	Copy   float64 `json:"copy_bytes_per_second"`
	Matrix float64 `json:"matrix_flop_per_second"`
	Upload float64 `json:"upload_bytes_per_second"`
}

// formatLine returns a line for people, or "" for nil.
func (p *peaksReport) formatLine() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("the card reached %.0f GB/s in a copy, %.0f TFLOP/s in a product, %.1f GB/s from the host\n", p.Copy/1e9, p.Matrix/1e12, p.Upload/1e9)
}

// gpuPeaks measures the card that the model will be loaded to. It returns nil if there
// is none or if it cannot be measured.
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
