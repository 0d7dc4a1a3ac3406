package native

import "fmt"

// Peaks are what a device reaches, measured: to hold other figures against.
type Peaks struct {
	Copy   float64 // bytes a second, read and written, of a long copy on the device
	Matrix float64 // operations a second of a large fp16 product
	Upload float64 // bytes a second from pinned host memory
}

// Peaks measures the device that models are loaded to. It takes 3 GiB of its
// memory for about a second.
func (l *Library) Peaks() (Peaks, error) {
	d, err := l.first()
	if err != nil {
		return Peaks{}, err
	}
	var p peaks
	if err := l.api.check(l.api.devicePeaks(int32(d.Index), &p), fmt.Sprintf("measuring the GPU %s", d.Name)); err != nil {
		return Peaks{}, err
	}
	return Peaks{Copy: p.copy, Matrix: p.matrix, Upload: p.upload}, nil
}
