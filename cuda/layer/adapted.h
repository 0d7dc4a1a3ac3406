// adapted.h: products of a step in which some rows have adapters (engine/adapters.h):
//
//   y = W x' + up (down x)     x' = x, gain ⊙ x, or x + D x by blocks
//
// The stages of a version compute W x' first and then add what is narrow.
#pragma once

#include <initializer_list>

#include "engine/version.h"

// What the narrow products may read while the kernel before them still runs: that kernel
// lets them start only when all before it has ended.
enum class Ready : int32_t { Nothing, Inputs, InputsAndOutputs };

struct AdaptArgs {
    const AdapterDelta *table; // see Adapters::table
    int deltas;                // of an adapter
    int change[4], products;   // of the products: each one's place among the deltas
    const RowInput *input;
    const AdapterTile *tiles;  // null: one token for each row
    const int32_t *row_of;     // of tokens; null: token t is row t's
    Ready ready;
    const void *x;             // E [products][..][in]
    int64_t x_part;            // elements between the products
    int in;
    void *y;                   // [products][..][y_token]
    int64_t y_part, y_token;
    int out;

    __device__ const AdapterDelta *delta(int row, int product) const {
        const int adapter = input[row].adapter;
        return adapter == 0 ? nullptr : table + (int64_t)adapter * deltas + change[product];
    }

    __device__ int row(int token) const { return row_of ? row_of[token] : token; }

    __device__ AdapterTile tile(int i) const { return tiles ? tiles[i] : AdapterTile{row(i), i, 1}; }
};

// The changes of products of a layer, at most four, whose inputs x are x_part apart.
AdaptArgs adapt_inputs(const Pass &p, int layer, std::initializer_list<int> targets, const void *x, int64_t x_part, int in);

// Computes the inputs x' that adapters change, in `to`; returns x itself if none does.
const void *reshape(const Pass &p, AdaptArgs a, void *to, int64_t to_part, int tokens);

// The model's own product; returns what may be read while it runs.
Ready multiply_or_else(const Pass &p, Product product, const void *w, const void *x, void *y);

// y += up (down x) for rows with adapters; y is of E, or fp32. Squares: E, and then relu², for
// all rows.
enum class Outputs { Elements, Floats, Squares };
void add_outputs(const Pass &p, AdaptArgs a, Outputs kind, void *y, int64_t y_part, int64_t y_token, int out);
