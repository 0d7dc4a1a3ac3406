package sampler

func blockMax(best, z []float32) { blockMaxGo(best, z) }

func blockMass(sums []uint64, z []float32, m, scale float32) { blockMassGo(sums, z, m, scale) }
