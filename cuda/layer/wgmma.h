// wgmma.h: a layer's products by kernels of our own on Hopper, for passes of some dozens
// to some hundreds of tokens, which take as long as reading the weights. Several products
// share a launch, and weights are requested before the previous kernel has ended.
#pragma once

#include "engine/pass.h"

// Whether this device and build have these kernels, and they are the fastest for this pass.
bool takes_wgmma(const Pass &p);

// The stages of forward.h, with the same results up to rounding.
void project_wgmma(const Pass &p, int layer);
void output_wgmma(const Pass &p, int layer);
void key_wgmma(const Pass &p, int layer);
void value_wgmma(const Pass &p, int layer);

// RWKV-6's (engine/v6.cu, layer/gated.h).
void project_v6_wgmma(const Pass &p, int layer);
void key_gated_wgmma(const Pass &p, int layer);
void value_gated_wgmma(const Pass &p, int layer);

// Whether project_wgmma also runs the second low-rank halves here.
bool takes_wgmma_up(const Pass &p);

// y = w x for the key, y += w x for output and value, of all tokens. Does nothing and
// returns false where cuBLASLt is faster.
bool multiply_wgmma(const Pass &p, Product product, const void *w, const void *x, void *y);

namespace wgmma {

// What is done with a sum. Add adds it to out, in fp32; the others round it to E, Square
// after relu².
enum class Finish : int32_t { Store, Tanh, Sigmoid, Square, Add };

// out [tokens][rows] = finish(x [tokens][inputs] · w [rows][inputs]ᵀ), w and x of E.
// rows are a multiple of 4, inputs one of 8.
struct Product {
    const void *w, *x;
    void *out;
    int rows, inputs;
    Finish finish;
    const void *gate = nullptr; // E [tokens][rows], with Add: its sigmoid times the sum is added
};

struct Workspace {
    float *partial;   // [kPartialSums]
    int32_t *arrived; // [kSharedTiles]; zero between launches
};

constexpr int kMostProducts = 7;
constexpr int kNarrowInputs = 1024, kWideInputs = 4096; // C of small and large models
constexpr int kMostTokens = 256, kMostNarrowTokens = 512; // of a pass, and of a pass of a small model
// Up to how many tokens products after the first ones are faster here than by cuBLASLt, as
// measured on an H200: kFewTokens for all but the value product, kValueTokens for that one,
// except in large models (wgmma.cu).
constexpr int kFewTokens = 64, kValueTokens = 32;
constexpr int kSharedTiles = 4096;
constexpr int64_t kPartialSums = 12 << 20;

// Several products of the same tokens.
struct Products {
    Product product[kMostProducts];
    int count = 0, tokens = 0;
    bool across = false; // weights are [inputs][rows] in memory; at most kValueTokens tokens
    bool narrow = false; // of a small model, whose tiles have few tokens
    bool late = false;   // the next kernel may start only when all before this one has ended

    void add(const Product &p) { product[count++] = p; }
};

// One for each element type, each in a file of its own.
void multiply_half(const Products &all, const Workspace &space, gpuStream stream);
void multiply_bf16(const Products &all, const Workspace &space, gpuStream stream);

} // namespace wgmma
