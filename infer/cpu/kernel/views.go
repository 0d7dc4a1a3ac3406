package kernel

import "unsafe"

// floatsOf views bytes as float32; b is aligned and its length a multiple of 4.
func floatsOf(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// halvesOf views bytes as 16-bit words.
func halvesOf(b []byte) []uint16 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*uint16)(unsafe.Pointer(&b[0])), len(b)/2)
}

// int8sOf views bytes as signed.
func int8sOf(b []byte) []int8 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(&b[0])), len(b))
}

// int32sOf views bytes as int32.
func int32sOf(b []byte) []int32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// addressOf is where a non-empty slice begins.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }
