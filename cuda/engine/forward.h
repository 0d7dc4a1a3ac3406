// forward.h: the stages of a step. A stage launches its kernels on p.stream and
// allocates nothing, so that a graph can capture it. README.md says what each reads and
// writes.
#pragma once

#include "engine/pass.h"

// x = LN(emb[token]; ln0); row_slot = the slot of each row.
void embed(const Pass &p);

// Part `index` of a buffer of E whose parts are [token_room][width].
void *part(const Pass &p, void *base, int64_t index, int64_t width);

// The five stages of a layer, and the paths that implement them.
using Stage = void (*)(const Pass &p, int layer);

struct Path {
    Stage project, mix, output, key, value;
};

// logits = head · LN(x; ln_out) of every output row's last token.
void head(const Pass &p);

// Draws for all rows with RK_ROW_DRAW from their logits.
void draw(const Pass &p);

// Runs all stages in order.
void run(const Pass &p);

// ---- stages by products of cuBLASLt, for any number of tokens ----------------

void project(const Pass &p, int layer);
void project_up(const Pass &p, int layer); // its last part: up from low and low_g
void mix(const Pass &p, int layer);       // RWKV-7
void mix_decay(const Pass &p, int layer); // RWKV-5 and 6
void mix_v4(const Pass &p, int layer);    // RWKV-4 (layer/wkv4.cu)
void output(const Pass &p, int layer);
void key(const Pass &p, int layer);
void value(const Pass &p, int layer);

// ---- the same with adapters (layer/adapted.cu) ---------------------------------

void project_adapted(const Pass &p, int layer);
void output_adapted(const Pass &p, int layer);
void key_adapted(const Pass &p, int layer);
void value_adapted(const Pass &p, int layer);
void head_adapted(const Pass &p);
void project_v6_adapted(const Pass &p, int layer);

// ---- RWKV-6 (engine/v6.cu) ----------------------------------------------------

void mix_inputs(const Pass &p, int layer); // mixed
void project_v6(const Pass &p, int layer);

// ---- kernels that stages share (layer/shift.cu, layer/elementwise.cu) ---------

// mixed = the inputs of the attention, from LN1 and the shift: six, or RWKV-5's four or three.
void shift_attention(const Pass &p, int layer);

// mixed[0] = the input of the channel mix, from LN2 and the shift.
void shift_ffn(const Pass &p, int layer);

// RWKV-6: mixed[0] = what its mixes are computed from, and norms; mixed = the five inputs of the
// attention, from low_wide and norms (layer/mix_v6.cu); mixed[0], [1] = the inputs of the channel mix's key and
// receptance. The first one leaves the shift as it is.
void shift_mixes(const Pass &p, int layer);
void shift_mixed(const Pass &p, int layer);
void shift_ffn_gated(const Pass &p, int layer);

// Copies next_shift to the states; shift is of a layer and place. It is a kernel of its own
// because blocks of the kernel before may still have to read the old shift.
void commit_shift(const Pass &p, float *shift);

// last = LN(x; ln_out) of output rows.
void norm_last(const Pass &p);

// low = tanh for w, low_wide = sigmoid; hidden = relu², all in place.
void activate_low(const Pass &p);
void square_hidden(const Pass &p);

// values = tanh(values), n of E; x += sigmoid(gate) ⊙ y, gate E and
// y fp32 [T][C].
void activate_tanh(const Pass &p, void *values, int64_t n);
void add_gated(const Pass &p, const void *gate, const float *y);
