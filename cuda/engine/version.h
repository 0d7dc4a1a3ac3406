// version.h: what differs between the versions of RWKV. The engine asks a model's version
// for its tensors, its products and the stages of its layers; slots, graphs, sampler, head and
// everything else is the same for all. A version is a file of its own (v7.cu) and a line
// in version.cu.
#pragma once

#include "engine/forward.h"

// How many parts of T tokens the buffers of a step have (pass.h).
struct Parts {
    int inputs; // of mixed that the attention has
    int mixed, rkv, low, up;
    bool v_first, mixes; // mixes: there are norms
};

using Weights = const void *Layer::*;

// The operands of a product in a layer, for tuning.
struct Operands {
    Product product;
    Weights weights;
    const void *x;
    void *y;
};

struct Version {
    int32_t number; // RK_V*
    const char *name;
    int ranks;     // low-rank branches
    bool heads;    // RWKV-4 has none: its head size is 1
    uint32_t targets; // products that adapters may change: 1 << RK_KEY and so on; none: there are no stages for that
    Parts parts;

    // Sets rank and rank_wide.
    void (*round_ranks)(Shape &shape);

    // Takes memory for the tensors of a layer, but for its norms, output and the FFN's value,
    // which all versions have, and says where each goes. block begins their names.
    void (*place)(Model &model, int layer, const std::string &block);

    // The sizes of the products that not all versions have in common; room is token_room.
    void (*products)(const Shape &shape, int64_t room, ProductSpecs &specs);
    std::vector<Operands> (*operands)(const Shape &shape, const Activations &act);

    // The fastest stages for this pass.
    Path (*choose)(const Pass &p);
};

// The version with a number; throws if this library cannot run it.
const Version &find_version(int32_t number);

// The sizes of all products of a shape.
ProductSpecs product_specs(const Shape &shape, int64_t room);

extern const Version v4, v50, v51, v52, v6, v7;
