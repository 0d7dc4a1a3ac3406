// Package load makes a running model of a name: it finds and opens the file,
// or the model that the program carries, chooses the tokenizer and the
// backend, and reports progress.
package load
