package native

import "rookery/infer/adapter"

// v4 is RWKV-4 (x040).
var v4 = version{number: 40, targets: ungatedTargets}

// ungatedTargets are those of layers without a gate, with a receptance in the channel mix.
var ungatedTargets = map[adapter.Target]int32{
	adapter.Receptance: 0, adapter.Key: 1, adapter.Value: 2, adapter.Output: 3,
	adapter.FFNKey: 4, adapter.FFNValue: 5, adapter.FFNReceptance: 7, adapter.Head: 8,
}
