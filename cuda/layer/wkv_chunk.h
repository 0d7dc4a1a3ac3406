// wkv_chunk.h: the time mix of rows that bring many tokens, in chunks on tensor cores, for
// heads of 64: RWKV-7's, and at the end RWKV-6's.
//
// A row's tokens are cut into tiles of 16; the last one is padded with tokens that change
// nothing. With P_t = Π_{s<=t} w_s over the tile, for each head and the state S [value]
// [key] before the tile (r, k̃, v, a = -κ̂, b = κ̂ ⊙ rate as in timemix_head.h; rows are
// tokens, columns channels):
//
//   q̄ = r ⊙ P ;  ā_t = a_t ⊙ P_(t-1) ;  k̄ = k̃ / P ;  b̄ = b / P ;  F = P of the last token
//   M = (I - tril₋(Ā B̄ᵀ))⁻¹ ;  G = M tril₋(Ā K̄ᵀ) ;  W = M Ā
//   X = tril(Q̄ B̄ᵀ) ;  H = tril(Q̄ K̄ᵀ) + X G ;  R = Q̄ + X W
//   U = G V + W Sᵀ ;  Y = H V + R Sᵀ ;  S ← S diag F + Vᵀ (K̄ diag F) + Uᵀ (B̄ diag F)
//
// Nothing above the last line depends on S. prepare_chunks computes it for all tiles of
// all heads at once and writes a record for each tile (wkv_chunk_record.h). scan_chunks
// then goes through the tiles of a row in order, one head a block, each warp with 16
// value rows of S in registers, and finishes the outputs: head norm, bonus, gate. Where
// there are few heads it works on several segments of a long row at once
// (wkv_chunk_scan.cu).
//
// RWKV-6 has decay alone: U is nothing, and y has the state before its token. With L_t =
// Σ_{s<=t} log w_s, l_t = L_(t-1), and everything else as above:
//
//   R = r ⊙ exp(l) ;  K̄ diag F = k ⊙ exp(L_last - L)
//   H_ts = Σ_j r_tj k_sj exp(l_tj - L_sj)   for s < t ;   H_tt = Σ_j r_tj u_j k_tj
//   Y = H V + R Sᵀ ;  S ← S diag F + Vᵀ (K̄ diag F)
//
// Its decays may be anything down to 0, so that 1 / P overflows: H is computed pair by pair
// from differences of logarithms, none of which is positive (wkv_chunk_decay.cu).
//
// Precision: S is fp32. Operands of tensor cores are sums of two fp16 or bf16 terms, but
// W has one: y before rounding and S are within 1e-4 of float64 (two terms for W would
// make it 1e-5). Values that fp16 cannot hold are clamped to its range: k̃, r and their
// products to 65504, v and S to 16 times that.
//
// A row's result depends on its tokens and its state alone. A block needs about 100 KiB of
// shared memory (compute capability 8.0, 8.6 and later have that).
#pragma once

#include "device/gpu.h"

constexpr int kChunkTokens = 16, kChunkHead = 64;

// Tokens first to first+count-1 of the pass, at most kChunkTokens.
struct ChunkTile {
    int32_t first, count;
};

// A row of the pass that runs in chunks: its tokens are first to first+count-1, its tiles
// begin with number `tile` and follow one another.
struct ChunkRow {
    int32_t row, first, count, tile;
};

constexpr int chunk_tiles(int tokens) { return (tokens + kChunkTokens - 1) / kChunkTokens; }

// One layer's time mix of the rows in the table. All pointers are on the device;
// layouts of rkv, up, v_first and y are in README.md.
struct ChunkMix {
    bool bf16, state_half; // types of activations, and of the state
    bool decay;            // RWKV-5 and 6: rkv is k, v, r; up the decay or null; r_k is u; gate, or null, before silu
    int heads;
    int64_t stride; // elements between the parts of rkv and of up
    const void *rkv, *up, *gate;
    void *v_first, *y;
    const float *w0, *a0, *v0, *k_k, *k_a, *r_k, *gn_weight, *gn_bias; // v0 is null in layer 0
    void *state;             // of this layer
    const int32_t *row_slot; // of all rows of the pass
    int spare;               // rows with this slot are skipped
    const ChunkTile *tiles;
    const ChunkRow *rows;
    int tile_count, row_count;
    void *records; // tile_count * heads * chunk_record_bytes()
};

// Bytes of the record of one tile of one head.
int64_t chunk_record_bytes();

// Writes the records, and v_first in layer 0.
void prepare_chunks(const ChunkMix &m, gpuStream stream);
void prepare_decay_chunks(const ChunkMix &m, gpuStream stream); // RWKV-6's

// Reads them; writes y and the state.
void scan_chunks(const ChunkMix &m, gpuStream stream);

// Both.
void mix_chunks(const ChunkMix &m, gpuStream stream);
