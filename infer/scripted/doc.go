// Package scripted is a fake infer.Backend for tests of the engine and of
// everything above it. It answers prompts with given texts, at a given pace,
// and fails where it is told to.
//
// Its state depends on the consumed tokens (with Adapted, also on the adapters that
// read them) and on nothing else. Without a scripted answer, its logits are a hash of
// that state, so a token that is read twice, left out or read into the wrong slot
// changes everything after it. It checks what the engine promises a backend: no slot
// occurs twice in a step, no step exceeds MaxTokens, no two calls overlap.
package scripted
