// Package statefile reads and writes recurrent states as files: initial
// states tuned by the public trainers (blocks.N.att.time_state), and the
// program's own format (.rkstate), which keeps all of a statefile.State.
package statefile
