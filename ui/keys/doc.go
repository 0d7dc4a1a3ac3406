// Package keys is the one table of everything a person can do in the terminal
// interface. Key bindings, the help screen, the command palette, slash
// commands, the generated key page and the validation of the [keys] table of
// the configuration all come from it.
package keys
