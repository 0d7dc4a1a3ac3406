//go:build !amd64

package kernel

func detect() [paths]*table { return [paths]*table{Go: plainTable()} }

var sparsePaths [paths]*sparseTiles

func (p Path) gate(h *timeMixHead) { gateGo(h) }

func (p Path) wkv(h *wkvHead) { wkvGo(h) }

func (p Path) outNorm(h *timeMixHead) { outNormGo(h) }

func (p Path) linearGate(h *linearHead) { linearGateGo(h) }

func (p Path) linear(h *linearHead) { linearGo(h) }
