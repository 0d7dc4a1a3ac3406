// Package native runs RWKV models on a GPU: it opens the library of our kernels, a
// shared library with the C interface of cuda/rookery.h, and implements
// infer.Backend with it. It is reached without cgo, so that the program is
// built by the Go tool alone; the price is a program that is linked
// dynamically on Linux. Built with -tags nogpu, or for another system, the
// package has the same interface and no GPU.
//
// # Sampling on the device
//
// Tokens are drawn on the device by the definition of infer/sampler, with the
// parameters, the random stream and the counts of each row's Sampler. The
// Sampler stays the one that knows: the backend takes a number from its random
// stream for every draw, and the engine lets it observe the token. The device
// counts the token too, which saves sending the counts with every step. The
// backend remembers of every slot which Sampler's counts the device has and at
// which revision; where that is not the one at hand (after a restore, a stop
// that was rolled back, a changed parameter), they are sent again.
//
// # Failing
//
// A library that is missing, of another version or without a usable device is
// an error of Open, Devices or Load in one line. When the device is lost, every
// later step fails with a LostError; the states that the engine has read are
// safe in its memory.
package native
