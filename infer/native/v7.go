package native

import "rookery/infer/adapter"

// v7 is RWKV-7 (x070).
var v7 = version{
	number: 70,
	targets: map[adapter.Target]int32{
		adapter.Receptance: 0, adapter.Key: 1, adapter.Value: 2, adapter.Output: 3,
		adapter.FFNKey: 4, adapter.FFNValue: 5, adapter.Head: 8,
	},
}
