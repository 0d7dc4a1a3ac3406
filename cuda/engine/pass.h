// pass.h: one step as the kernels see it.
//
// The tokens of all rows lie one after another, T in all. In a single pass every row
// has one token: token t belongs to row t, and row_of is not read. All pointers are to
// device memory unless it says otherwise. README.md has the layouts.
#pragma once

#include "device/blaslt.h"
#include "engine/adapters.h"
#include "engine/model.h"
#include "engine/slots.h"
#include "layer/wkv_chunk.h"

// How a row draws (sampler/draw.cu). A Member does not draw: the first row of its mix does.
enum class Draw : int32_t { None, Greedy, Rwkv, Rapid, Member };

// A row as the host describes it. Parameters that have the same effect have been given the
// same values (infer/sampler, Params.effective).
struct RowInput {
    int32_t slot;
    int32_t first, count; // its tokens in the pass
    int32_t token;        // of a row with one token
    uint32_t flags;       // RK_ROW_*
    Draw draw;
    float scale; // log2(e)/temperature
    float top_p;
    int32_t top_k; // 0: off
    float presence, frequency, decay;
    int32_t rapid_penalty; // penalties are Rapid-Sampling's
    int32_t exempt;        // exempt tokens are counted with weight 0
    int32_t ban_offset, ban_count; // of bans: each token once, below the limit
    int32_t top, top_offset; // candidates, and where they go
    int32_t chunked;         // its time mix is in the table of chunks
    int32_t members;         // rows after this one that are members of its mix
    float weight;            // in the mix
    int32_t adapter;         // 0: none
    uint64_t seed, index;    // of the random stream

    // Whether seen tokens have a penalty.
    __host__ __device__ bool penalised() const { return presence != 0 || frequency != 0; }

    // Whether top_p or top_k leaves out any of `limit` tokens.
    __host__ __device__ bool truncates(int limit) const { return top_p < 1 || (top_k > 0 && top_k < limit); }
};

// A token's layer norm, for the kernel that computes it again: xn = (x - mean) factor weight + bias.
struct TokenNorm {
    float mean, factor;
    int32_t slot; // of its row, if it is the row's first token; else -1
    int32_t row;  // if it is the row's last token; else -1
};

// Buffers of a step, for token_room tokens or row_room rows; README.md has the layouts.
struct Activations {
    int64_t token_room, row_room;
    float *x;
    void *mixed, *rkv, *low, *low_wide, *up, *v_first, *y, *hidden, *last;
    TokenNorm *norms;  // [token_room]: RWKV-6: of LN1 (layer/mix_v6.cu)
    float *next_shift; // [row_room][C]: new shifts that are not in the states yet
    float *logits;     // [row_room][logits_stride]
    float *partial;        // [wgmma::kPartialSums]: sums of tiles that blocks share
    int32_t *arrived;      // [wgmma::kSharedTiles]: blocks that have written theirs; zero between kernels
    int64_t logits_stride; // V rounded up to whole chunks of the sampler
};

// Working memory of the draws; see sampler/sampler.h.
struct DrawScratch {
    float *z;           // [row_room][logits_stride]: logits after penalties; null where a team holds a row in shared memory
    float *mixed;       // [row_room/2][logits_stride]: logits of mixes; see sampler/mix.h
    float2 *parts;      // [row_room][chunks]: sums of the softmax of rows of mixes
    uint32_t *exempt;   // bit set of tokens
    uint32_t *arrived;  // rows that have drawn; zero between draws
    int32_t *left;      // [1+row_room]: how many outputs draw_many leaves, zero between draws, then which

    // In pinned host memory; the device writes to it.
    rk_result *results;       // [row_room]
    rk_candidate *candidates; // [row_room * RK_TOP_MAX]
    uint32_t *finished;       // set to 1 when all results are complete
};

struct Pass {
    const Shape *shape;
    const Model *model;
    Products *products;
    SlotView slots;
    Activations act;
    DrawScratch scratch;

    int rows, tokens; // in a graph, those of its bucket
    bool single;
    bool mixes;       // the step has a mix
    int outputs;      // rows with logits: the n-th is row output_row[n], or n if that is null

    const RowInput *sent;     // [rows], in pinned host memory: embed copies it to input; null if input has it already
    RowInput *input;          // [rows]
    int32_t *row_slot;        // [rows]: written by embed
    const int32_t *token_ids; // [tokens], of rows with more than one
    const int32_t *row_of;    // [tokens]
    const int32_t *output_row;
    const int32_t *bans;

    // The table of rows whose time mix runs in chunks; the others run token by token.
    const ChunkTile *chunk_tiles;
    const ChunkRow *chunk_rows;
    int chunk_tile_count, chunk_row_count;
    void *chunk_records;

    // Adapters of rows; read only if adapted is not No.
    Adapted adapted;
    const AdapterDelta *adapters; // see Adapters::table
    const AdapterTile *adapter_tiles; // of rows that have one, in passes that are not single
    int adapter_tile_count;

    gpuStream stream;
};
