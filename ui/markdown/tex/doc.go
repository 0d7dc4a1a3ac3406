// Package tex writes formulas of TeX as Unicode text: letters, operators,
// arrows, accents, raised and lowered figures, fractions and roots on one line.
//
// It is all or nothing: a formula with a command that the tables lack, or that
// takes two dimensions, is refused, and its reader sees the source.
package tex
