// wgmma.h: a layer's products by kernels of our own on Hopper, for passes that are
// bound by how fast weights come from memory: several products in one launch, and
// weights on their way before the kernel ahead has ended.
#pragma once

#include "engine/pass.h"

// Whether this device and build have them, and they are the fastest for this pass.
bool takes_wgmma(const Pass &p);

// As the stages of forward.h, with the same results but for rounding.
void project_wgmma(const Pass &p, int layer);
void output_wgmma(const Pass &p, int layer);
void key_wgmma(const Pass &p, int layer);
void value_wgmma(const Pass &p, int layer);

// Whether project_wgmma ends with a launch of its own, too.
bool takes_wgmma_up(const Pass &p);

// y = w x for the key, y += w x for output and value, of all tokens. False if it is
// done better by cuBLASLt; nothing is done then.
bool multiply_wgmma(const Pass &p, Product product, const void *w, const void *x, void *y);

namespace wgmma {

// What becomes of a sum. All but Add round it to E; Square: of what is above 0.
// Add adds it to what is there, in fp32.
enum class Finish : int32_t { Store, Tanh, Sigmoid, Square, Add };

// out [tokens][rows] = finish(x [tokens][inputs] · w [rows][inputs]ᵀ), w and x of E.
// rows are a multiple of 4, inputs one of 8.
struct Product {
    const void *w, *x;
    void *out;
    int rows, inputs;
    Finish finish;
};

struct Workspace {
    float *partial;   // [kPartialSums]
    int32_t *arrived; // [kSharedTiles]; zero between launches
};

constexpr int kMostProducts = 7;
constexpr int kNarrowInputs = 1024, kWideInputs = 4096; // C of small and large models
constexpr int kMostTokens = 256, kMostNarrowTokens = 512; // of any product, and of small models
// Up to which number of tokens products other than the first ones are faster here than
// by cuBLASLt, as measured on an H200: all but the value; and that, but of large models.
constexpr int kFewTokens = 64, kValueTokens = 32;
constexpr int kSharedTiles = 4096;
constexpr int64_t kPartialSums = 12 << 20;

// Several products of the same tokens.
struct Products {
    Product product[kMostProducts];
    int count = 0, tokens = 0;
    bool across = false; // weights lie in memory as [inputs][rows]; at most kValueTokens tokens
    bool narrow = false; // of a small model, whose tiles have few tokens
    bool late = false;   // the next kernel may start only when all before this one has ended

    void add(const Product &p) { product[count++] = p; }
};

// Both are compiled in files of their own.
void multiply_half(const Products &all, const Workspace &space, gpuStream stream);
void multiply_bf16(const Products &all, const Workspace &space, gpuStream stream);

} // namespace wgmma
