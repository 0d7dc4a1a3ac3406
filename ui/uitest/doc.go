// Package uitest is what tests of the interface share: a workspace that is real
// but for its model, and a terminal that drives a program by keys and reads its
// screen. It knows nothing of the program itself, so that every room can use it.
package uitest
