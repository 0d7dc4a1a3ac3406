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
// to call it. Requests are stateless: each says from which Snapshot it goes on
// and ends with a new one, so that undo, retry, fork and resume are all the
// same operation.
package infer
