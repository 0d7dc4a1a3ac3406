//go:build !amd64

package sampler

func blockMax(best, z []float32) { blockMaxGo(best, z) }

func decayAll(weights []float32, decay float32) { decayGo(weights, decay) }

func blockMass(sums []uint64, weights, z []float32, m, scale, theta float32) {
	blockMassGo(sums, weights, z, m, scale, theta)
}
