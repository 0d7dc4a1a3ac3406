// Package load loads a model by its path: it opens the file, or the embedded model,
// chooses tokenizer and backend, and reports progress.
package load
