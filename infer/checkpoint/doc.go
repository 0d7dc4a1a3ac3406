// Package checkpoint reads weights: torch .pth and .safetensors, into tensors
// with canonical names. Files are hostile: sizes are bounded, nothing is executed.
package checkpoint
