// Package rwkv says what an RWKV model is: versions, sizes, tensor names and
// shapes, validation, and the layout of a state.
package rwkv
