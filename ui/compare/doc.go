// Package compare is where answers are compared: the table of variants, the
// answers side by side, the best of several seeds, and the table of votes. What
// needs no screen is exported for the line mode.
package compare
