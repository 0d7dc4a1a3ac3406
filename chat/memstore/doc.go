// Package memstore keeps conversations in memory: for tests, and for runs
// that are to leave nothing behind.
package memstore
