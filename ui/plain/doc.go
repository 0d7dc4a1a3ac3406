// Package plain is the interface for screen readers: no alternate screen, no
// boxes, no spinner, nothing that is painted twice. It has one conversation open
// at a time, speaks in whole sentences, and takes slash commands. It is a front
// end of its own beside the screen, and runs the same commands of the features.
package plain
