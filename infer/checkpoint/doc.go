// Package checkpoint reads weights from torch .pth files, .safetensors files and
// those that web-rwkv converts, and reads and writes the program's own int8 form
// of .safetensors. Tensors have the names and shapes of the released .pth files.
//
// A file can at worst be refused: sizes are bounded before memory is allocated,
// the decoder of the pickle inside a .pth file makes nothing but dictionaries of
// tensors, and nothing is executed. A refusal is a FormatError of one line: file,
// tensor, what is wrong, what to do.
//
// Where the system can, a file is mapped, so its size takes no heap. Tensors are
// converted piece by piece when their values are read.
package checkpoint
