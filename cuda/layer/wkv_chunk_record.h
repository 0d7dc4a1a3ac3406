// wkv_chunk_record.h: the record of a tile, which prepare_chunks writes and scan_chunks
// reads.
//
// A token's place in the record is its slot: the even tokens of the tile in order, then
// the odd ones, so that a lane of prepare_chunks has two neighbouring tokens. Values are
// fp16; array [1], where there is one, has what array [0] lost by rounding.
#pragma once

#include <type_traits>

#include "layer/wkv_chunk.h"

// v and S are stored at 1/16 of their size, so that they fit fp16's range.
constexpr float kStateScale = 1.0f / 16;

// How many fp16 terms W, R, G, H and V have: 1 or 2.
constexpr int kTermsW = 1, kTermsR = 2, kTermsG = 2, kTermsH = 2, kTermsV = 2;

// The slot of a token, and back.
__host__ __device__ constexpr int slot_of(int token) { return token / 2 + token % 2 * 8; }
__host__ __device__ constexpr int token_of(int slot) { return slot % 8 * 2 + slot / 8; }

// A matrix [16 slots][64 channels] of fp16 in pieces of 16 bytes. The pieces of a slot are
// permuted, so that matrices load without bank conflicts.
struct ChunkImage {
    uint4 piece[kChunkTokens][8];

    __host__ __device__ static int place(int slot, int piece) { return piece ^ (slot % 4 * 2 + slot / 4 % 2); }
};

struct ChunkRecord {
    // Operands B by lane: of W and R for 16 channels each, columns are slots.
    // x, y: the first 8 slots (b0, b1); z, w: the others.
    uint4 w[kTermsW][4][kWarp];
    uint4 r[kTermsR][4][kWarp];
    uint4 g[kTermsG][kWarp]; // Gᵀ
    uint4 h[kTermsH][kWarp]; // Hᵀ
    ChunkImage k[2], b[2];   // K̄ diag F, B̄ diag F
    ChunkImage v[kTermsV];   // times kStateScale
    float f[kChunkHead];
    float bonus[kChunkTokens]; // Σ r k̃ r_k, by slot
};

// The record of a tile with decay alone: U is nothing, H has the bonus in it.
struct DecayRecord {
    uint4 r[kTermsR][4][kWarp];
    uint4 h[kTermsH][kWarp];
    ChunkImage k[2];
    ChunkImage v[kTermsV];
    float f[kChunkHead];
};

template <typename Record> constexpr bool kIsDelta = std::is_same_v<Record, ChunkRecord>;

static_assert(sizeof(DecayRecord) % 16 == 0 && sizeof(DecayRecord) <= sizeof(ChunkRecord), "chunk_record_bytes is enough for both");
static_assert(sizeof(ChunkRecord) % 16 == 0, "records are copied by 16 bytes");
