package cpu

import "math"

// maxDifference is the largest difference between two vectors; NaN if there
// is one.
func maxDifference(a, b []float32) float64 {
	worst := 0.0
	for i := range a {
		d := math.Abs(float64(a[i]) - float64(b[i]))
		if !(d <= worst) {
			worst = d
		}
	}
	return worst
}

// deviation is the standard deviation of a vector.
func deviation(v []float32) float64 {
	var sum, squares float64
	for _, x := range v {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	n := float64(len(v))
	return math.Sqrt(squares/n - sum/n*sum/n)
}
