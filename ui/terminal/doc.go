// Package terminal is the one way of text from outside to a terminal: what a
// model wrote, what a file, a title or an error says. Nothing that a terminal
// would act on passes, nothing that reorders what is on it, and nothing that
// hides in it: control characters, directions, characters of no width, tags.
// What joins the parts of an emoji, or the letters of scripts that join, stays.
//
// Clean is for a text, a Cleaner for one that comes in pieces, and a Writer for
// an output of the command line.
package terminal
