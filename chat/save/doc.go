// Package save keeps what conversations need: a Saver writes behind each of
// them, a MemoryTier holds snapshots in the host's memory, and Thin says which
// of the stored ones can be spared.
package save
