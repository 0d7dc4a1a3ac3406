// Package chat holds conversations: trees of turns, prompt templates, thinking
// modes and presets, export. It knows no screen, no SQL and no device; the
// engine is reached through infer and the store through the Store interface.
//
// A Desk is everything one running program has open. A Dialogue is one open
// conversation. Both have their own goroutines; every method returns at once
// unless its comment says that it blocks, so that a user interface may call
// them from its update loop.
package chat
