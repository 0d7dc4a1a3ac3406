// Package tree is what is done with the tree of a conversation: undo and redo,
// the timeline, versions, forks, edited answers, names and pins of turns, and
// other tokens than those that an answer took.
package tree
