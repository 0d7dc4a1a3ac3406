// sampler.h: drawing tokens on the device, to the bit as infer/sampler defines
// it. Three kernels for all rows of a step:
//
//   scan    per chunk: penalties and bans in place; largest values
//   weigh   per chunk: masses
//   choose  per row: truncation, draw, log-probability, candidates; puts the raw
//           logits back; counts the token
#pragma once

#include "forward.h"
#include "sampler_select.h"

namespace sampling {

struct DrawArgs {
    float *logits; // [outputs][stride]
    int64_t stride;
    int vocab;
    const RowInput *input;
    const int32_t *row_slot, *output_row, *bans;
    SlotView slots;
    DrawScratch scratch;

    __device__ int row(int out) const { return output_row ? output_row[out] : out; }
    __device__ bool frozen(int row) const { return row_slot[row] != input[row].slot; }
};

// What a seen token's logit is lowered by.
__device__ inline float penalty(const RowInput &in, float n, float first) {
    if (in.rapid_penalty) return in.presence * first + in.frequency * (n - first);
    return in.presence + in.frequency * n;
}

void scan_logits(const DrawArgs &a, int outputs, gpuStream stream);
void choose_tokens(const DrawArgs &a, int outputs, gpuStream stream);

} // namespace sampling
