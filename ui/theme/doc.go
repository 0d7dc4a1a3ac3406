// Package theme names the looks of the program: every text style that a view
// may use, by what it means and not by its colour, and the few drawing
// characters that lists, frames and graphs are made of.
//
// The default theme uses the terminal's own 16 colours and attributes and sets
// no background except for selections, so that it is right on light, dark and
// transparent terminals. Truecolour themes are chosen by name. NO_COLOR needs
// no theme: the colour profile of the output drops colours and keeps
// attributes, and no theme tells two things apart by colour alone where the
// difference matters.
package theme
