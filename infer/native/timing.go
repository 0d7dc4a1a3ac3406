package native

import "time"

// A Timing is how the last step went.
type Timing struct {
	Device time.Duration // from the first kernel to the last, on the GPU
	Submit time.Duration // the host's, until the step was queued
	Wait   time.Duration // the host's, until its results were there
	Bucket int           // rows of the captured graph it ran in; 0 if it ran without
}

// Timing asks the device how the last step went.
func (b *Backend) Timing() (Timing, error) {
	var t timing
	if err := b.check(b.api.timing(b.handle, &t), "timing"); err != nil {
		return Timing{}, err
	}
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	return Timing{Device: ms(t.device), Submit: ms(t.submit), Wait: ms(t.wait), Bucket: int(t.bucket)}, nil
}
