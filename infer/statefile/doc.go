// Package statefile reads and writes recurrent states as files: initial
// states tuned by the public trainers (blocks.N.att.time_state), and the
// program's own form, which keeps everything that is known of a state.
package statefile
