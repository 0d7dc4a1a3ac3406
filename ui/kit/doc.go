// Package kit is what the rooms of the interface are built of: the Host, which is
// the program as they see it; the Action, which is all that passes between them;
// the Feature, which is what a room adds; dialogs, lists, questions and the text
// area. It knows no room and not the root.
package kit
