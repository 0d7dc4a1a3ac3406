//go:build !linux

package sessions

// lowerPriority does nothing where threads have no priority of their own that
// any process may lower.
func lowerPriority() {}
