package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// largestScale is the largest finite fp16 value.
const largestScale = 0x7bff

// quantizeBlock writes one block as int8 values and returns its fp16 scale:
// value = int8 * scale. The scale is the largest magnitude / 127, rounded to
// fp16, and values are rounded, ties to even, against that rounded scale. The
// result lies in -127..127.
func quantizeBlock(dst []int8, src []float32) (scale uint16, err error) {
	largest := float32(0)
	for _, v := range src {
		if v != v {
			return 0, errors.New("NaN cannot be quantised")
		}
		largest = max(largest, v, -v)
	}
	scale = toHalf(largest / 127)
	// Subnormal scales are coarse. If the largest value would not fit with this one,
	// the next larger scale is used.
	if largest > 127.5*fromHalf(scale) {
		scale++
	}
	if scale > largestScale {
		return 0, fmt.Errorf("%v is too large for int8 with fp16 scales", largest)
	}
	step := float64(fromHalf(scale))
	for i, v := range src {
		dst[i] = 0
		if step > 0 {
			dst[i] = int8(math.RoundToEven(float64(v) / step))
		}
	}
	return scale, nil
}

// A quantizer writes a tensor's int8 values and then their scales.
type quantizer struct {
	tensor *Tensor
	scales []byte
}

// quantizerBlocks is how many blocks are quantised at a time.
const quantizerBlocks = 1024

// writeValues writes the int8 values in row-major order.
func (q *quantizer) writeValues(w io.Writer) error {
	n := q.tensor.Len()
	q.scales = make([]byte, 0, n/Q8Block*2)
	var (
		values [quantizerBlocks * Q8Block]float32
		ints   [Q8Block]int8
		out    [quantizerBlocks * Q8Block]byte
	)
	for off := 0; off < n; off += len(values) {
		part := values[:min(len(values), n-off)]
		if err := q.tensor.Float32(part, off); err != nil {
			return err
		}
		for i := 0; i < len(part); i += Q8Block {
			scale, err := quantizeBlock(ints[:], part[i:i+Q8Block])
			if err != nil {
				return fmt.Errorf("values %d to %d: %w", off+i, off+i+Q8Block, err)
			}
			q.scales = binary.LittleEndian.AppendUint16(q.scales, scale)
			for j, v := range ints {
				out[i+j] = byte(v)
			}
		}
		if _, err := w.Write(out[:len(part)]); err != nil {
			return err
		}
	}
	return nil
}

// writeScales writes the fp16 scales of the values written before.
func (q *quantizer) writeScales(w io.Writer) error {
	if q.scales == nil {
		return errors.New("the scales are written before the values")
	}
	_, err := w.Write(q.scales)
	q.scales = nil
	return err
}
