// Package infer is the engine: it turns requests into rows, steps all of them
// together on a Backend, matches stops, assembles text and hands back
// snapshots. It knows nothing of chats, screens or SQL.
//
// # Words
//
// A sequence is a stream of tokens with one recurrent state. A slot is the
// place of one state in the backend's memory. A row is a sequence's entry in
// one step, and a step is one batched forward pass over all rows: decoding
// rows bring one token, prefilling rows a chunk.
//
// # Ownership
//
// One goroutine, started by NewEngine, owns the Backend and is the only one
// to call it. It takes requests from a mailbox and writes to Streams, which are
// unbounded buffers: nothing in a step waits for a reader, and no method of an
// Engine or a Stream waits for a step, but Logits and Close. A step that fails
// or panics ends the requests that had a row in it; the others go on.
//
// Requests are stateless: each says from which Snapshot it goes on and ends
// with a new one, so that undo, retry, fork and resume are all the same
// operation.
//
// # Stops
//
// When a stop is noticed, its tokens were drawn and some were read. Text that
// may be the beginning of a stop is held back, and the state before the token
// it begins in is kept in a spare slot, so that the ending's snapshot is the
// one after the answer. Without a spare slot the answer is read again from the
// prompt snapshot. A token that holds the end of the answer and the beginning
// of the stop is replaced by the encoding of its first bytes.
package infer
