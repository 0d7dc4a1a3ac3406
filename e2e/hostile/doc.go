// Package hostile gives the built program files that no well-meaning person makes: pipes,
// devices, files without an end, nesting without an end, sizes that lie, files that
// another program changes, and random damage to good ones. Each run has a bound on time,
// on memory and on the lines of its error. `make hostile` prints a table of them.
package hostile
