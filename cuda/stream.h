// stream.h: the products that a layer begins with, in one launch on Hopper, for
// passes that are bound by how fast weights come from memory.
#pragma once

#include "pass.h"

// Whether this device and build have them, and they are the fastest for this pass.
bool takes_stream(const Pass &p);

// As project and key of forward.h, with the same results but for rounding.
void project_stream(const Pass &p, int layer);
void key_stream(const Pass &p, int layer);

namespace stream {

// What becomes of a sum, before it is rounded to E.
enum class Finish : int32_t { Store, Tanh, Sigmoid, Square }; // Square: of what is above 0

// out [tokens][rows] = finish(x [tokens][inputs] · w [rows][inputs]ᵀ), all E. rows are
// a multiple of 4, inputs one of 8.
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
constexpr int kMostTokens = 256;
constexpr int kNarrowInputs = 1024, kMostNarrowTokens = 512; // of models as small as that
constexpr int kSharedTiles = 4096;
constexpr int64_t kPartialSums = 12 << 20;

// Several products of the same tokens.
struct Products {
    Product product[kMostProducts];
    int count = 0, tokens = 0;

    void add(const Product &p) { product[count++] = p; }
};

// Both are compiled in files of their own.
void multiply_half(const Products &all, const Workspace &space, gpuStream stream);
void multiply_bf16(const Products &all, const Workspace &space, gpuStream stream);

} // namespace stream
