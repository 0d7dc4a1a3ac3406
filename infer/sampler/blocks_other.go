//go:build !amd64

package sampler

func blockMax(best, z []float32) { blockMaxGo(best, z) }

func blockMass(sums []uint64, weights, z []float32, m, scale, theta float32) {
	blockMassGo(sums, weights, z, m, scale, theta)
}
