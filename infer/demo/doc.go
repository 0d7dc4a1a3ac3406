// Package demo is the embedded model: a small RWKV of 11.7 million parameters and
// 4,096 vocabulary entries that tells short stories and makes small talk. README.md says where it comes from and what its int8 form
// costs.
package demo
