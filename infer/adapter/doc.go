// Package adapter reads what public trainers write to change a model without
// touching its weights: LoRA, PiSSA, DoRA, Bone in its forms (DiSHA, BAT and
// the older ones), mixtures of LoRA experts, and tensors that replace the
// model's. An adapter is for one shape of model. It stays apart from the weights,
// so that the rows of one step can use different ones.
//
// The formulas are those of the trainers, RWKV-PEFT and RWKV-LM-RLHF. For a
// product y = W x with W [out, in]:
//
//	LoRA    y = W x + s·B (A x)
//	PiSSA   y = W x + B (A x) - B0 (A0 x)       A0, B0: values before training
//	DoRA    y = W x' + s·B (A x'),  x' = c∘x,   c_j = M_j / (‖V_j‖ + 1e-6),
//	        V = W + s·B A, V_j its column j
//	DiSHA   y = W x + Dᵀ Σ_q x_q                x in pieces x_q of r, the last padded
//	BAT     y = W (x+z) + tile(Σ_b z_b),        z_b = D_b x_b, tile repeats to out
//	Bone    W_ab += W_ab D_a + D_a              the oldest form, blocks by output row
//	offset  y ⊙ (1 + time_offset)               post-wkv tuning: of the heads' outputs before their norm
//
// A strength k makes W + k·(W' - W) of the weight W' that an adapter stands for, of
// replaced tensors too, and weighs what experts give against what the model gives.
//
// s is alpha/r. No file has it, and none says whether square Bone blocks go by
// columns or rows. Without an answer in Options, reading ends with a QuestionError.
package adapter
