// Package chat holds open conversations: trees of turns, the answers that are
// generated for them, and comparisons of answers. It knows no screen, no SQL and
// no device; the engine is reached through infer and the store through
// turn.Store. What it is made of stands below it: the data (turn), prompts
// (prompt), plans (replay), saving (save), states and adapters (library), what
// answers are compared by (compare), files (transfer).
//
// A Workspace is everything one running program has open. A Dialogue is one open
// conversation. Both have their own goroutines; every method returns at once
// unless its comment says that it blocks, so that a user interface may call
// them from its update loop.
//
// # Tokens and states
//
// A user turn's tokens are the separator (before the first turn: the system
// prompt), what the person wrote, "Assistant:" and the header of the thinking
// mode. An answer's tokens are what was drawn, without the stop. The state after
// a turn has read the tokens of all turns of its line, of those above it
// Turn.Recall where there is one. Turn.History says with which adapters, and from
// which base state. A next turn therefore reads its own tokens alone, and a retry
// reads nothing. Where a snapshot is missing, damaged or of another model, a plan
// (chat/replay) begins at the nearest one whose history is a prefix of the wanted
// one, and the answer reads the rest.
//
// # Saving
//
// A dialogue never waits for the store. Its saver writes from a goroutine of
// its own: the prompt as soon as it is tokenised, the tokens of an answer at
// most 100 ms after they were drawn, turn, snapshot and head together when the
// answer has ended. What cannot be written is tried again until it can;
// meanwhile View.Err says why and View.Saved is false.
package chat
