// Package panel has the panels beside the messages: the sampling parameters
// and the monitor, and the monitor's one-line form for the bottom of the
// screen.
//
// A panel only shows and asks. What a key should change is returned as an
// Action for the program to carry out, and shows once the program has told
// the panel the new values.
package panel
