// gemv.h: the stages of a step for few tokens, bound by how fast weights come
// from memory: every matrix is read once, by products on tensor cores
// (gemv_product.h) whose blocks make their own inputs (gemv_input.h), the FFN's
// value by live units alone (gemv_value.cu). Kernels begin before their
// predecessors have ended (small_device.h).
#pragma once

#include "engine/pass.h"

constexpr int kGemvTokens = 8;

// Whether the stages below can take this pass: at most kGemvTokens tokens,
// each a row of its own and without an adapter, and a shape that the tiles fit.
bool takes_gemv(const Pass &p);

// Its part that concerns value_sparse.
bool value_fits(const Pass &p);

// Stages as in forward.h, with the same results but for rounding. They read and
// write what README.md says; mixed, last and next_shift are working memory. A
// layer takes all of them: project_gemv and key_gemv leave LN(x) in next_shift,
// and their successors bring it to the states.
void project_gemv(const Pass &p, int layer);
void output_gemv(const Pass &p, int layer);
void key_gemv(const Pass &p, int layer);
void value_sparse(const Pass &p, int layer); // logits is working memory
void head_gemv(const Pass &p);
