// Package chattest holds stored conversations against the model, for tests of
// chat and of its stores: what their turns say of who read which token must
// give their states and their answers once more. It reads turns by what is
// written about them, and not with chat's own code.
package chattest
