// gated.h: the channel mix with a receptance, of RWKV-4 to 6:
//
//   x += σ(R x_r) ⊙ V relu²(K x_k) ;  x_i = xn + (prev - xn) ⊙ mix_i ,  xn = LN(x; ln2)
//
// K and R are one matrix, key E [F + C][C]. hidden is E [T][F]; R x_r is in rkv, E [T][C]:
// nothing needs r, k and v any more. Each family of
// kernels has its two stages; these are the ones by cuBLASLt. Their V relu² is fp32 [T][C] in
// up, since fp16 does not hold it in every model.
#pragma once

#include "engine/version.h"

void place_gated(Model &m, int layer, const std::string &ffn); // "blocks.3.ffn."
void gated_products(const Shape &shape, ProductSpecs &specs);
void add_gated_operands(const Activations &act, std::vector<Operands> &all);

void key_gated(const Pass &p, int layer);
void value_gated(const Pass &p, int layer);
