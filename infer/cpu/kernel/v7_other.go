//go:build !amd64

package kernel

func (p Path) gate(h *timeMixHead) { gateGo(h) }

func (p Path) wkv(h *wkvHead) { wkvGo(h) }

func (p Path) outNorm(h *timeMixHead) { outNormGo(h) }
