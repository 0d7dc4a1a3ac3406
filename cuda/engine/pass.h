// pass.h: one step as the kernels see it.
//
// The tokens of all rows lie one after another, T in all. A pass in which every
// row has one token is single: token t is that of row t, and row_of is not
// read. All pointers are on the device.
#pragma once

#include "engine/adapters.h"
#include "device/blaslt.h"
#include "engine/model.h"
#include "engine/slots.h"
#include "layer/wkv_chunk.h"

// What draws do with the likeliest tokens; see sampler_draw.cu. For a Member the row
// before it draws that has members.
enum class Draw : int32_t { None, Greedy, Rwkv, Rapid, Member };

// A row as the host describes it, after the parameters that mean the same have
// been made the same (infer/sampler, Params.effective).
struct RowInput {
    int32_t slot;
    int32_t first, count; // its tokens in the pass
    int32_t token;        // of a row with one token; RK_FED_BACK is the slot's drawn one
    uint32_t flags;       // RK_ROW_*
    Draw draw;
    float scale; // log2(e)/temperature
    float top_p;
    int32_t top_k; // 0: off
    float presence, frequency, decay;
    int32_t rapid_penalty; // penalties are Rapid-Sampling's
    int32_t exempt;        // exempt tokens are counted with weight 0
    int32_t ban_offset, ban_count; // each once, below the limit
    int32_t top, top_offset; // candidates, and where they go
    int32_t chunked;         // its time mix is in the table of chunks
    int32_t members;          // rows after this one that it is mixed with
    float weight;              // of rows of a mix
    int32_t adapter;         // 0: none
    uint64_t seed, index;    // of the random stream

    // Whether seen tokens are lowered at all.
    __host__ __device__ bool penalised() const { return presence != 0 || frequency != 0; }

    // Whether top_p or top_k leaves out any of limit tokens.
    __host__ __device__ bool truncates(int limit) const { return top_p < 1 || (top_k > 0 && top_k < limit); }
};

// Buffers of a step; layouts in README.md. Each has room for token_room tokens
// or row_room rows.
struct Activations {
    int64_t token_room, row_room;
    float *x;
    void *mixed, *rkv, *low, *low_g, *up, *v_first, *y, *hidden, *last;
    float *next_shift; // [row_room][C]: of passes that are not single
    float *logits;     // [row_room][logits_stride]
    float *partial;        // [wgmma::kPartialSums]: sums on their way
    int32_t *arrived;      // [wgmma::kSharedTiles]: blocks that have left theirs; zero between kernels
    int64_t logits_stride; // V rounded up to whole chunks of the sampler
};

// Working memory of the draws; see sampler.h.
struct DrawScratch {
    float *z;           // [row_room][logits_stride]: logits as draws see them; null where a team of blocks holds a row
    float *mixed;       // [row_room/2][logits_stride]: logits of mixes; see sampler_mix.h
    float2 *parts;      // [row_room][chunks]: sums of the softmax of rows of mixes
    uint32_t *exempt;   // bit set of tokens
    uint32_t *arrived;  // rows that have drawn; zero between draws
    int32_t *left;      // [1+row_room]: how many outputs draw_many has left, zero between draws, and which

    // In the host's memory, which the device writes to.
    rk_result *results;       // [row_room]
    rk_candidate *candidates; // [row_room * RK_TOP_MAX]
    uint32_t *finished;       // 1 when all results are there
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
    bool mixes;       // some rows have members
    int outputs;      // rows with logits: the n-th is row output_row[n], or n if that is null

    const RowInput *sent;     // [rows], in the host's memory: embed brings them to input; null if they are there
    RowInput *input;          // [rows]
    int32_t *row_slot;        // [rows]: written by embed; frozen rows have the spare one
    const int32_t *token_ids; // [tokens], of rows with more than one
    const int32_t *row_of;    // [tokens]
    const int32_t *output_row;
    const int32_t *bans;

    // Rows whose time mix goes by chunks; the others are gone through singly.
    const ChunkTile *chunk_tiles;
    const ChunkRow *chunk_rows;
    int chunk_tile_count, chunk_row_count;
    void *chunk_records;

    // Adapters of rows; without any, nothing here is read.
    Adapted adapted;
    const AdapterDelta *adapters; // see Adapters::table
    const AdapterTile *adapter_tiles; // of rows that have one, in passes that are not single
    int adapter_tile_count;

    gpuStream stream;
};
