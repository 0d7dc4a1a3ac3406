// Package prompt turns text into what a model reads, and what a model wrote
// into what a person reads: model families and their templates, thinking modes,
// roles, sampling presets, titles, and the cleaning of text. It holds no
// conversation and does no I/O.
//
// A user turn's tokens are the separator (before the first turn: the system
// prompt), what the person wrote, "Assistant:" and the header of the thinking
// mode. The separator is always tokenised by itself, so that a line has the
// same tokens however it was cut into turns.
package prompt
