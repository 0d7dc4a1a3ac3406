package sampler

import "golang.org/x/sys/cpu"

//go:generate go run -C gen . -out ../blocks_amd64.s -stubs ../blocks_stub_amd64.go -pkg sampler

var hasAVX2 = cpu.X86.HasAVX2

func blockMax(best, z []float32) {
	if !hasAVX2 || len(best) == 0 {
		blockMaxGo(best, z)
		return
	}
	_ = z[len(best)*blockLen-1] // the assembly does not check
	blockMaxAVX2(&best[0], &z[0], len(best))
}

func decayAll(weights []float32, decay float32) {
	const lanes = 8
	n := 0
	if hasAVX2 && len(weights) >= lanes {
		n = len(weights) / lanes
		decayAVX2(&weights[0], n, decay)
	}
	decayGo(weights[n*lanes:], decay)
}

func blockMass(sums []uint64, weights, z []float32, m, scale, theta float32) {
	if !hasAVX2 || len(sums) == 0 {
		blockMassGo(sums, weights, z, m, scale, theta)
		return
	}
	n := len(sums) * blockLen
	_, _ = z[n-1], weights[n-1] // the assembly does not check
	blockMassAVX2(&sums[0], &weights[0], &z[0], len(sums), m, scale, theta)
}
