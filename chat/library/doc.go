// Package library holds what conversations can be given besides a prompt: the
// states that they begin from and mix, baked from texts or read from files, the
// mixes that were saved under a name, and the registry of adapters.
//
// What it keeps is in a turn.Store. It reads texts on an Engine, and loads and
// drops the engine's adapters. Methods that take a context block.
package library
