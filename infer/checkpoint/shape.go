package checkpoint

// Limits of a tensor. The largest released model has 65,536 rows of 4,096.
const (
	maxDims    = 8
	maxDim     = 1 << 31
	maxValues  = 1 << 40
	maxTensors = 1 << 15
	maxName    = 512
)

// countValues multiplies a shape from a file, within bounds.
func countValues(name string, shape []int64) (int64, error) {
	if len(shape) > maxDims {
		return 0, refuseTensor(name, useRelease, "%d dimensions, at most %d are read", len(shape), maxDims)
	}
	count := int64(1)
	for _, d := range shape {
		if d < 0 || d >= maxDim {
			return 0, refuseTensor(name, downloadAgain, "impossible shape %v", shape)
		}
		if d > 0 && count > maxValues/d {
			return 0, refuseTensor(name, downloadAgain, "impossible shape %v", shape)
		}
		count *= d
	}
	if int64(int(count)) != count {
		return 0, refuseTensor(name, "use a 64-bit system", "%d values are more than this system can address", count)
	}
	return count, nil
}

// squeezed drops leading dimensions of 1, but not the last dimension. stride may be nil.
func squeezed(shape, stride []int64) (ints, strides []int) {
	skip := 0
	for skip < len(shape)-1 && shape[skip] == 1 {
		skip++
	}
	ints = toInts(shape[skip:])
	if stride != nil {
		strides = toInts(stride[skip:])
	}
	return ints, strides
}

func toInts(v []int64) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// contiguous says whether strided values lie in row-major order without gaps.
func contiguous(shape, stride []int) bool {
	want := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && stride[i] != want {
			return false
		}
		want *= shape[i]
	}
	return true
}
