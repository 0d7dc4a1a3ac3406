// sampler.h: drawing tokens on the device, bit for bit as infer/sampler defines it.
//
//   logits fp32 [outputs][stride] -> a token, its log-probability, candidates; the counts
//   of its slot
//
// One kernel does it: a team of blocks for each row (team.h) keeps the row's logits in
// shared memory from the first look to the draw. With few rows the kernel mostly waits:
// for other blocks, for memory, for instructions. So teams synchronise as seldom as
// possible, and the path of a usual row is short and has no branches.
//
//   mass.h        the arithmetic that is defined bit for bit
//   team.h        blocks that share a row
//   row.h         a block's part of a row: penalties, bans, largest values
//   cut.h         where top_k and top_p cut
//   pick.h        which id a running sum reaches
//   usual.h       both in one, for rows without top_k
//   candidates.h  the likeliest tokens
//   counts.h      the slot's counts: penalties, decay, the drawn token
//   mix.h/.cu     mixes: the logits of several rows as one
//   draw.cu       the kernel
//   many*         another kernel for many rows: one block a row, whose logits stay in the
//                 caches
#pragma once

#include "device/launch.h"
#include "engine/forward.h"

namespace sampling {

// Ids of a chunk. One warp works through a chunk in order.
constexpr int kDrawChunk = 1024;

struct DrawArgs {
    const float *logits; // [outputs][stride]
    int64_t stride;
    int vocab, outputs;
    bool early; // inputs and counts may be read before the previous kernel has ended
    bool many;  // draw_many has run, and drawn most rows
    const RowInput *input;
    const int32_t *output_row, *bans;
    SlotView slots;
    DrawScratch scratch;

    __device__ int row(int out) const { return output_row ? output_row[out] : out; }
    // The logits that an output's row draws from.
    __device__ const float *drawn_from(int out, bool mixed) const { return mixed ? scratch.mixed + (out / 2) * stride : logits + out * stride; }

    // Counts a row as drawn, and tells the host after the last one. One thread of each row
    // calls it, after everything that the row writes for the host.
    __device__ void arrive() const {
        fence_host();
        if (outputs > 1) {
            if (atomicInc(scratch.arrived, outputs - 1) < (unsigned)outputs - 1) return; // the last one makes it zero again
            fence_host();
        }
        if (many) *scratch.left = 0;
        *static_cast<volatile uint32_t *>(scratch.finished) = 1;
    }
};

// Whether a row has top_p or no truncation at all.
__device__ inline bool is_usual(const RowInput &in, int limit) { return in.draw == Draw::Rwkv && (in.top_k <= 0 || in.top_k >= limit); }

// Whether a team's shared memory holds a row of so many ids on this device. If not, draws
// need DrawScratch.z.
bool holds_rows(int vocab);

} // namespace sampling
