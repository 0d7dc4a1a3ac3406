// Package graph draws series of numbers with characters: filled areas over
// time, sparklines, histograms and bars. It returns plain text of exactly the
// size asked for; colours are up to the caller.
//
// Braille characters have two by four dots in a cell and so the finest
// picture; block elements have eight heights; plain ASCII has three and works
// everywhere.
package graph
