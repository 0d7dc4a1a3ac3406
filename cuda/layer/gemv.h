// gemv.h: the stages of a step of at most kGemvTokens tokens. Such a step takes as long as
// reading the weights, so that every matrix is read once, at the speed of memory:
// products on tensor cores (gemv_product.h) whose blocks compute their own inputs
// (gemv_input.h), and the FFN's value product over nonzero hidden units alone
// (gemv_value.cu). Kernels overlap (device/launch.h).
#pragma once

#include "engine/pass.h"

constexpr int kGemvTokens = 8;

// Whether the stages below can run this pass: at most kGemvTokens tokens, each a row of its
// own without an adapter, and a shape that is a multiple of the tiles.
bool takes_gemv(const Pass &p);

// The part of it that concerns value_sparse.
bool value_fits(const Pass &p);

// The stages of forward.h, with the same results up to rounding; mixed, last and
// next_shift are working memory. A layer uses all of them or none: project_gemv and
// key_gemv leave LN(x) in next_shift, and their successors copy it to the states.
void project_gemv(const Pass &p, int layer);
void output_gemv(const Pass &p, int layer);
void key_gemv(const Pass &p, int layer);
void value_sparse(const Pass &p, int layer); // logits is working memory
void head_gemv(const Pass &p);

// RWKV-6's (engine/v6.cu, layer/gated.h), in the same order.
void project_v6_gemv(const Pass &p, int layer);
void key_gated_gemv(const Pass &p, int layer);
void value_gated_gemv(const Pass &p, int layer);
