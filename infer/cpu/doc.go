// Package cpu runs RWKV-7 on the processor. It implements infer.Backend:
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
// A row's logits do not depend on the other rows of the step, on how its tokens
// are cut into steps, or on the number of threads: every output is summed in
// one fixed order. They are the same bit for bit on one instruction set.
//
// # Zeros
//
// relu² leaves most of a feed-forward layer zero. Weights that meet only zeros
// are not read, which changes no bit either. And in the last layer only the
// tokens that something still depends on are computed.
//
// The formulas are those of RWKV-7 "Goose" (x070). Linear weights are stored
// [out, in]; low-rank matrices are stored [in, out] in files and transposed
// while loading.
package cpu
