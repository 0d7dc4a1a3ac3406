// Package cpu runs RWKV models on the processor. It implements infer.Backend:
// a pool of states in host memory, and a step that packs the tokens of all
// rows into one activation matrix, so that every weight is read once for all
// rows and all tokens together.
//
// # Arithmetic
//
// Activations, states, norms and the recurrence are fp32. The large matrices
// are fp32, fp16, bf16 or int8 in blocks of 32 along a row; the low-rank
// matrices are never int8, and the decay bias w0 is always fp32, because
// decays close to 1 are what a model remembers with.
//
// Every output is summed in one fixed order. So on one instruction set a row's
// logits are the same, bit for bit, whatever the other rows of the step, the cut
// of its tokens into steps and the number of threads.
//
// # Zeros
//
// relu² makes most of a feed-forward layer zero. Weights that are multiplied by
// zeros alone are not read, which changes no bit of the result. In the last layer
// only the tokens that logits or states still depend on are computed.
//
// # Versions
//
// A model version is a file named for it, with parts of the same prefix, and a line
// in the table of version.go. It has the layers' weights, the formulas of the time
// mix, and its activations. Norms, token shift and the channel mix are common, in
// blocks.go, as are loading, slots, batching, adapters, embedding and head.
//
// Linear weights are stored [out, in]. Low-rank matrices are [in, out] in files
// and transposed while loading.
package cpu
