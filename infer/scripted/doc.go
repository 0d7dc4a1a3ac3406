// Package scripted is a fake infer.Backend for tests of the engine and of
// everything above it. It answers prompts with given texts, at a given pace,
// and fails where it is told to.
//
// Its state is a real one: a function of the tokens consumed (of an Adapted one:
// and of the adapters they were consumed with), and of nothing else. Without a
// text to say, its logits are drawn from a hash of that state, so that a token
// read twice, left out or read into the wrong slot changes everything that
// follows. It checks what the engine owes a backend: no slot twice in a step,
// no step beyond MaxTokens, no two calls at once.
package scripted
