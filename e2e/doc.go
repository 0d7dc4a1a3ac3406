// Package e2e drives the built program in tmux as a person would: it types,
// looks at the screen, kills the program and starts it again.
package e2e
