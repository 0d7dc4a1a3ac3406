package native

import (
	"rookery/infer/adapter"
	"rookery/infer/rwkv"
)

// v7 is RWKV-7 (x070).
var v7 = version{
	shape: func(s rwkv.Shape) shape {
		return shape{
			layers: int32(s.Layers), embed: int32(s.Embed), heads: int32(s.Heads), headSize: int32(s.HeadSize),
			ffn: int32(s.FFN), vocab: int32(s.Vocab),
			rankW: int32(s.Ranks[0]), rankA: int32(s.Ranks[1]), rankV: int32(s.Ranks[2]), rankG: int32(s.Ranks[3]),
		}
	},
	targets: map[adapter.Target]int32{
		adapter.Receptance: 0, adapter.Key: 1, adapter.Value: 2, adapter.Output: 3,
		adapter.FFNKey: 4, adapter.FFNValue: 5, adapter.Head: 6,
	},
}
