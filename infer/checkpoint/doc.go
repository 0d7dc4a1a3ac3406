// Package checkpoint reads and writes weights: torch .pth files, .safetensors
// files as dumped or as web-rwkv converts them, and our own int8 form of the
// latter, into tensors with the names and shapes of the released .pth files.
//
// Files are hostile until proven otherwise: sizes are bounded before anything
// is allocated, the pickle inside a .pth file is decoded by a machine that can
// only make dictionaries of tensors, and nothing is executed. What is refused
// is refused in one line (FormatError): file, tensor, what is wrong, what to do.
//
// A file is mapped where the system can do it, so that its size costs no heap;
// its tensors are converted piece by piece when asked for.
package checkpoint
