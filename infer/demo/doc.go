// Package demo is the model that the program carries: a small RWKV-7 of 11.7
// million parameters and 4,096 vocabulary entries that tells short stories and
// makes small talk. README.md says where it comes from and what its int8 form
// costs.
package demo
