// gated.h: what RWKV-4 to 6 have in common: the channel mix with a receptance,
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

// What adapters of these versions may change.
constexpr uint32_t kGatedTargets = (1 << (RK_HEAD + 1)) - 1, kUngatedTargets = kGatedTargets & ~(1u << RK_GATE);

void key_gated(const Pass &p, int layer);
void value_gated(const Pass &p, int layer);

// RWKV-4's and 5's mixes do not depend on the token, so that one product gives all of rkv.
void static_products(const Shape &shape, int64_t room, ProductSpecs &specs);
std::vector<Operands> static_operands(const Shape &shape, const Activations &act);
void project_static(const Pass &p, int layer);
Path choose_static(const Pass &p, Stage mix);

// The same with adapters (adapted_gated.cu).
void project_static_adapted(const Pass &p, int layer);
void key_gated_adapted(const Pass &p, int layer);
void value_gated_adapted(const Pass &p, int layer);
