//go:build race

package sampler

// raced says that the race detector runs.
const raced = true
