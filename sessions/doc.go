// Package sessions keeps conversations in SQLite: turns, the token journal of
// running answers, and snapshots. It is the only room that speaks SQL.
//
// One process writes: it holds a lock on the data directory, and inside it one
// connection writes while others read (WAL). A turn's text, tokens, parameters,
// snapshot and the conversation's head move in one transaction, and the journal
// is at most as old as the caller's last AppendJournal, so that a killed
// process loses nothing that was committed. A database of a newer version, one
// of another program and a damaged one are refused without being written to.
package sessions
