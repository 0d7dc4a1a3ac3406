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
// NewEngine starts the engine goroutine. It owns the Backend and is the only one
// to call it, except that a second goroutine reads states beside steps if the
// backend is a SideReader. The engine goroutine takes submitted requests and
// writes to Streams, which are unbounded buffers: a step never waits for a
// reader. Of the methods of an Engine and a Stream only Logits, LoadAdapter,
// DropAdapter, Adapters and Close wait for a step. A step that fails or panics
// ends the requests that had a row in it; the others go on.
//
// Requests are stateless: each names the Snapshot that it goes on from and ends
// with a new one. Undo, retry, fork and resume are the same operation.
//
// # Resident states
//
// The state after a prompt or an answer stays in its slot until another request
// needs the slot; the least recently used one goes first. A request from a
// snapshot whose state is resident does not write it again, and requests that
// begin together from one snapshot write it once. The snapshot has the state
// too, so a slot can be given to another request at any time. An ending comes
// when its state has been read back, and no step waits for that.
//
// # Stops
//
// When the engine notices a stop string, its tokens are already drawn, and the
// state has consumed some of them. So the engine holds back text that may be the
// beginning of a stop, and keeps a checkpoint: the state before the token in
// which that text begins, in a spare slot. The ending's snapshot is then the one
// after the answer. Without a spare slot the answer is read again from the
// prompt's snapshot. If the stop begins inside a token, the ending has the
// encoding of the bytes before it in place of the token.
package infer
