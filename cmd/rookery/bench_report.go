package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"rookery/config"
	"rookery/infer/measure"
	"rookery/infer/native"
	"rookery/infer/rwkv"
)

// A report is what `bench --json` prints.
type report struct {
	Model         string         `json:"model"`
	Backend       string         `json:"backend"`
	Adapter       string         `json:"adapter,omitempty"`
	AdapterBytes  int64          `json:"adapter_bytes,omitempty"`
	GPU           *gpuReport     `json:"gpu,omitempty"`
	Go            string         `json:"go"`
	Parameters    int64          `json:"parameters"`
	WeightBytes   int64          `json:"weight_bytes"`
	StateBytes    int64          `json:"state_bytes_per_row"`
	LoadSeconds   float64        `json:"load_seconds"`
	ReadBandwidth float64        `json:"read_bandwidth_bytes_per_second,omitempty"`
	Results       []measurements `json:"results"`
}

// A gpuReport says which GPU was measured, and how its memory is used.
type gpuReport struct {
	Name         string       `json:"name"`
	Memory       int64        `json:"memory_bytes"`
	Capability   string       `json:"compute_capability"`
	Driver       string       `json:"driver_cuda_version"`
	Slots        int          `json:"slots"`
	SlotBytes    int64        `json:"memory_per_slot_bytes"`
	ScratchBytes int64        `json:"scratch_bytes"`
	Peaks        *peaksReport `json:"peaks,omitempty"`
}

type measurements struct {
	What           string    `json:"what"`
	Rows           int       `json:"rows"`
	Tokens         int       `json:"tokens"`
	Median         float64   `json:"tokens_per_second"`
	Runs           []float64 `json:"runs"`
	StepP50        float64   `json:"step_p50_seconds"`
	StepP95        float64   `json:"step_p95_seconds"`
	StepP99        float64   `json:"step_p99_seconds"`
	FirstToken     float64   `json:"first_token_seconds,omitempty"`     // of a prompt
	BandwidthShare float64   `json:"bandwidth_share,omitempty"`         // of the memory, in decoding
	DeviceStep     float64   `json:"device_step_seconds,omitempty"`     // of the last step, on the GPU
	Traffic        float64   `json:"memory_bytes_per_second,omitempty"` // of a dense step, likewise
	Arithmetic     float64   `json:"matrix_flop_per_second,omitempty"`  // likewise
	MatrixShare    float64   `json:"matrix_share,omitempty"`            // of the matrix units, on the GPU
}

func newReport(s subject, loading time.Duration, peaks *peaksReport) *report {
	m := s.backend.Memory()
	r := &report{
		Model: s.name, Backend: s.backend.Name(), Go: runtime.Version(), Parameters: s.shape.Params(), WeightBytes: m.Weights,
		StateBytes: s.shape.StateBytes(), LoadSeconds: loading.Seconds(),
	}
	if b := s.gpu(); b != nil {
		d := b.Device()
		r.GPU = &gpuReport{
			Name: d.Name, Memory: d.TotalMemory, Capability: fmt.Sprintf("%d.%d", d.Major, d.Minor), Driver: d.DriverVersion(),
			Slots: b.Slots(), SlotBytes: m.States / int64(b.Slots()), ScratchBytes: m.Scratch, Peaks: peaks,
		}
	}
	return r
}

// addResult adds a series with its shares of what the device can reach.
func (r *report) addResult(what string, series measure.Series, s subject, c config.Config) error {
	m := newMeasurements(what, series)
	if what == "prompt" {
		m.FirstToken = m.StepP50
	}
	if b := s.gpu(); b != nil {
		t, err := b.Timing()
		if err != nil {
			return err
		}
		m.DeviceStep = t.Device.Seconds()
		m.Arithmetic = m.Median * matrixFlop(s.shape, what == "decode")
		if what == "decode" {
			m.Traffic = m.Median / float64(m.Rows) * float64(r.denseBytes(s.shape, c.Engine.State, m.Rows))
		}
		if p := r.GPU.Peaks; p != nil {
			m.BandwidthShare, m.MatrixShare = m.Traffic/p.Copy, m.Arithmetic/p.Matrix
		}
	} else if what == "decode" {
		m.BandwidthShare = m.Median / float64(m.Rows) * series.Bytes / r.ReadBandwidth
	}
	r.Results = append(r.Results, m)
	return nil
}

// addSeries adds a series alone.
func (r *report) addSeries(what string, series measure.Series) {
	r.Results = append(r.Results, newMeasurements(what, series))
}

func newMeasurements(what string, series measure.Series) measurements {
	return measurements{
		What: what, Rows: series.Rows, Tokens: series.Tokens, Median: series.Median(), Runs: series.Rates,
		StepP50: series.P50.Seconds(), StepP95: series.P95.Seconds(), StepP99: series.P99.Seconds(),
	}
}

// denseBytes returns the bytes that a decoding step moves if it reads every weight but
// the embedding, and reads and writes one state for each row.
func (r *report) denseBytes(s rwkv.Shape, state string, rows int) int64 {
	perLayer := 4 * int64(s.LayerStateLen())
	if state == "fp16" { // the matrices of the state alone are
		first, last := s.StatePart(0, rwkv.PartWKV)
		perLayer -= 2 * int64(last-first)
	}
	return r.WeightBytes - embeddingBytes(s, r.WeightBytes) + 2*int64(rows*s.Layers)*perLayer
}

// matrixFlop returns the floating-point operations of a token in dense matrix products:
// of all weights but the embedding and tables, and without the head if no token is drawn.
func matrixFlop(s rwkv.Shape, drawn bool) float64 {
	n := s.Params() - s.TableParams() - int64(s.Vocab*s.Embed)
	if !drawn {
		n -= int64(s.Vocab * s.Embed)
	}
	return 2 * float64(n)
}

// write prints the report for people.
func (r *report) write(out io.Writer) error {
	_, err := fmt.Fprintf(out, "%s on %s\n%.1f M parameters, weights %s, loaded in %.2f s, state %s a conversation",
		r.Model, r.Backend, float64(r.Parameters)/1e6, bytesText(r.WeightBytes), r.LoadSeconds, bytesText(r.StateBytes))
	if err == nil && r.GPU != nil {
		_, err = fmt.Fprintf(out, "\n%s of %s, driver for CUDA %s; %d slots of %s, %s for steps\n%s\n",
			r.GPU.Name, bytesText(r.GPU.Memory), r.GPU.Driver, r.GPU.Slots, bytesText(r.GPU.SlotBytes), bytesText(r.GPU.ScratchBytes), r.GPU.Peaks.formatLine())
	} else if err == nil {
		_, err = fmt.Fprintf(out, ", memory reads %.1f GB/s\n\n", r.ReadBandwidth/1e9)
	}
	if err != nil {
		return err
	}
	w := newFigures(out)
	w.add("what\trows\ttokens\ttokens/s\tlowest\thighest\tstep p50\tp95\tp99\t")
	if r.GPU != nil {
		w.add("on the GPU\tGB/s\tof peak\tTFLOP/s\tof peak\t\n")
	} else {
		w.add("of bandwidth\t\n")
	}
	for _, m := range r.Results {
		w.add("%s\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.2f ms\t%.2f ms\t%.2f ms\t", m.What, m.Rows, m.Tokens, m.Median, m.Runs[0], m.Runs[len(m.Runs)-1],
			1e3*m.StepP50, 1e3*m.StepP95, 1e3*m.StepP99)
		if r.GPU != nil {
			w.add("%.2f ms\t%s\t%s\t%.1f\t%s\t\n", 1e3*m.DeviceStep, formatUnlessZero("%.0f", m.Traffic/1e9), formatUnlessZero("%.0f %%", 100*m.BandwidthShare),
				m.Arithmetic/1e12, formatUnlessZero("%.0f %%", 100*m.MatrixShare))
		} else {
			w.add("%s\t\n", formatUnlessZero("%.0f %%", 100*m.BandwidthShare))
		}
	}
	return w.Flush()
}

// formatUnlessZero formats a figure; 0 was not measured and becomes "".
func formatUnlessZero(format string, v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

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
