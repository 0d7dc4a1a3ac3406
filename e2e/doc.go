// Package e2e drives the built program in tmux as a person does: it types, reads the
// screen, kills the program and starts it again.
package e2e
