//go:build !amd64

package kernel

func (p Path) linearGate(h *linearHead) { linearGateGo(h) }

func (p Path) linear(h *linearHead) { linearGo(h) }
