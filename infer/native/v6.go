package native

import "rookery/infer/adapter"

// v6 is RWKV-6 (x060).
var v6 = version{number: 60, targets: gatedTargets}

// gatedTargets are those of layers with a gate and a channel mix with a receptance.
var gatedTargets = map[adapter.Target]int32{
	adapter.Receptance: 0, adapter.Key: 1, adapter.Value: 2, adapter.Output: 3, adapter.Gate: 6,
	adapter.FFNKey: 4, adapter.FFNValue: 5, adapter.FFNReceptance: 7, adapter.Head: 8,
}
