// sampler_scan.cu: the first two passes over the logits, a block for each chunk
// of each row: penalties, bans and largest values; then masses.
#include "sampler.h"

namespace sampling {

namespace {

constexpr int kScanThreads = 256;
constexpr int kEach = kDrawChunk / kScanThreads;

__device__ float block_max(float v, float *shared) {
    v = warp_max(v);
    __syncthreads();
    if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = v;
    __syncthreads();
    for (int i = 0; i < kScanThreads / kWarp; i++) v = fmaxf(v, shared[i]);
    return v;
}

// Notes the chunk's largest logit, the sum of its exponentials and whether one
// is NaN; lowers the logits of seen and banned tokens, in place, and keeps
// what they were.
__global__ void __launch_bounds__(kScanThreads) scan(DrawArgs a) {
    __shared__ float raw[kDrawChunk], z[kDrawChunk], shared[kScanThreads / kWarp];
    const int chunk = blockIdx.x, out = blockIdx.y, row = a.row(out), base = chunk * kDrawChunk;
    const RowInput &in = a.input[row];
    if (in.draw == Draw::None || a.frozen(row)) return;
    float *logits = a.logits + (int64_t)out * a.vocab;
    float most = kNegInf;
    bool nan = false;
#pragma unroll
    for (int i = 0; i < kEach; i++) {
        const int at = i * kScanThreads + threadIdx.x, id = base + at;
        float v = id < a.vocab ? logits[id] : kNegInf;
        nan |= v != v;
        if (id >= a.slots.limit) v = kNegInf;
        raw[at] = z[at] = v;
        most = fmaxf(most, tame(v));
    }
    if (nan) a.scratch.nan[out] = 1;
    most = block_max(most, shared);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; i++)
        if (most > kNegInf) sum += expf(tame(raw[i * kScanThreads + threadIdx.x]) - most);
    __syncthreads();
    sum = block_sum(sum, shared);

    const int slot = in.slot, seen = in.penalised() ? a.slots.count_size[slot] : 0;
    const int64_t list = (int64_t)slot * a.slots.limit, kept = (int64_t)out * a.slots.limit;
    for (int i = threadIdx.x; i < seen; i += kScanThreads) {
        const int at = a.slots.count_token[list + i] - base;
        if (at < 0 || at >= kDrawChunk) continue;
        a.scratch.raw[kept + i] = raw[at];
        z[at] = raw[at] - penalty(in, a.slots.count_n[list + i], a.slots.count_first[list + i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < in.ban_count; i += kScanThreads) {
        const int id = a.bans[in.ban_offset + i], at = id - base;
        if (at < 0 || at >= kDrawChunk || id >= a.slots.limit) continue;
        a.scratch.ban_raw[in.ban_offset + i] = raw[at];
        z[at] = kNegInf;
    }
    __syncthreads();
    float best = kNegInf;
#pragma unroll
    for (int i = 0; i < kEach; i++) {
        const int at = i * kScanThreads + threadIdx.x;
        if (__float_as_uint(z[at]) != __float_as_uint(raw[at])) logits[base + at] = z[at];
        best = fmaxf(best, tame(z[at]));
    }
    best = block_max(best, shared);
    if (threadIdx.x == 0) {
        const int at = out * a.scratch.chunks + chunk;
        a.scratch.best[at] = best;
        a.scratch.raw_best[at] = most;
        a.scratch.raw_sum[at] = sum;
    }
}

// The chunk's mass, untempered if a truncation needs it so.
__global__ void __launch_bounds__(kScanThreads) weigh(DrawArgs a) {
    __shared__ float shared[kScanThreads / kWarp];
    __shared__ uint64_t sums[kScanThreads / kWarp];
    const int chunk = blockIdx.x, out = blockIdx.y, row = a.row(out), base = chunk * kDrawChunk;
    const RowInput &in = a.input[row];
    if (in.draw == Draw::None || in.draw == Draw::Greedy || a.frozen(row)) return;
    const float *best = a.scratch.best + out * a.scratch.chunks, *logits = a.logits + (int64_t)out * a.vocab;
    float m = kNegInf;
    for (int c = threadIdx.x; c < a.scratch.chunks; c += kScanThreads) m = fmaxf(m, best[c]);
    m = block_max(m, shared);
    const float scale = in.draw == Draw::Rwkv && in.truncates(a.slots.limit) ? kSoftmaxScale : in.scale;
    uint64_t sum = 0;
    if (m > kNegInf)
#pragma unroll
        for (int i = 0; i < kEach; i++) {
            const int id = base + i * kScanThreads + threadIdx.x;
            if (id < a.slots.limit) sum += mass(tame(logits[id]), m, scale);
        }
    sum = warp_sum(sum);
    if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < kScanThreads / kWarp; i++) sum += sums[i];
    a.scratch.mass[out * a.scratch.chunks + chunk] = sum;
}

} // namespace

void scan_logits(const DrawArgs &a, int outputs, gpuStream stream) {
    const dim3 grid(a.scratch.chunks, outputs);
    scan<<<grid, kScanThreads, 0, stream>>>(a);
    weigh<<<grid, kScanThreads, 0, stream>>>(a);
}

} // namespace sampling
