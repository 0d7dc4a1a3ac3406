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
// to call it, but for states that are read beside steps (SideReader). It takes requests from a mailbox and writes to Streams, which are
// unbounded buffers: nothing in a step waits for a reader, and no method of an
// Engine or a Stream waits for a step, but Logits and Close. A step that fails
// or panics ends the requests that had a row in it; the others go on.
//
// Requests are stateless: each says from which Snapshot it goes on and ends
// with a new one, so that undo, retry, fork and resume are all the same
// operation.
//
// # Residents
//
// The state of a prompt or an ending stays in its slot while no request needs
// the slot; the one not used for longest goes first. A request from a snapshot
// whose state is resident does not write it again, and requests that begin
// from one snapshot together write it once. The snapshot has the state too, so
// that nothing is lost with a slot. States are read out of slots by a second
// goroutine where the backend lets it: an ending comes when its state has been
// read, and no step waits for that.
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
