// Package library is the stored conversations on the screen: the list with its
// archive and bin, the search of titles and messages, export and import.
package library
