// Package states is the library of states on the screen: the list to begin
// from, baking, keeping and importing, a look into a state, and the drift of a
// conversation.
package states
