// sampler.h: drawing tokens on the device, to the bit as infer/sampler defines
// it, by one kernel: a team of blocks for each row (sampler_team.h) that keeps the
// row's logits in shared memory from the first look to the draw. With few rows it
// waits, for other blocks, for memory and for instructions, far longer than it works:
// teams meet as seldom as can be, and the usual path is short and without branches.
//
//   sampler_mass.h        the arithmetic that is defined to the bit
//   sampler_team.h        blocks that share a row
//   sampler_row.h         a block's part of a row: penalties, bans, largest values
//   sampler_cut.h         where a truncation cuts
//   sampler_pick.h        which id a running sum reaches
//   sampler_usual.h       both in one, for rows without top_k
//   sampler_candidates.h  the likeliest tokens
//   sampler_counts.h      the slot's counts: penalties, decay, the drawn token
//   sampler_mix.h/.cu     mixes: the logits of several rows as one
//   sampler_draw.cu       the kernel
//   sampler_many*         another for many rows: a block a row, which stays in the caches
#pragma once

#include "engine/forward.h"
#include "device/launch.h"

namespace sampling {

// Ids of a chunk, which one warp goes through in their order.
constexpr int kDrawChunk = 1024;

struct DrawArgs {
    const float *logits; // [outputs][stride]
    int64_t stride;
    int vocab, outputs;
    bool early; // inputs and counts may be read before the previous kernel has ended
    bool many;  // draw_many has been at it, and taken most rows
    const RowInput *input;
    const int32_t *row_slot, *output_row, *bans;
    SlotView slots;
    DrawScratch scratch;

    __device__ int row(int out) const { return output_row ? output_row[out] : out; }
    // The logits that an output's row draws from.
    __device__ const float *drawn_from(int out, bool mixed) const { return mixed ? scratch.mixed + (out / 2) * stride : logits + out * stride; }

    __device__ bool frozen(int row) const { return row_slot[row] != input[row].slot; }

    // Tells the host when the last row has drawn. By one thread of each row, after all
    // that the row has for the host.
    __device__ void arrive() const {
        fence_host();
        if (outputs > 1) {
            if (atomicInc(scratch.arrived, outputs - 1) < (unsigned)outputs - 1) return; // else it is zero again
            fence_host();
        }
        if (many) *scratch.left = 0;
        *static_cast<volatile uint32_t *>(scratch.finished) = 1;
    }
};

// Whether top_p truncates a row, or nothing.
__device__ inline bool is_usual(const RowInput &in, int limit) { return in.draw == Draw::Rwkv && (in.top_k <= 0 || in.top_k >= limit); }

// Whether this device keeps rows of so many ids in the shared memory of a team.
// If not, draws need DrawScratch.z.
bool holds_rows(int vocab);

} // namespace sampling
