// sampler_scan.cu: the first two passes over the logits, a warp for each chunk
// of each row: penalties, bans and largest values; then masses.
#include "sampler.h"
#include "small_device.h"

namespace sampling {

namespace {

constexpr int kScanWarps = 4;

// The chunk and the output row of this warp; false if there is none.
__device__ bool place(const DrawArgs &a, int outputs, int *out, int *chunk) {
    const int warp = blockIdx.x * kScanWarps + threadIdx.x / kWarp;
    *out = warp / a.scratch.chunks;
    *chunk = warp % a.scratch.chunks;
    return *out < outputs;
}

// Calls f(i, id) for those of n ids that lie in the chunk, and says whether
// there were any. All lanes see then what f has written.
template <typename F> __device__ bool each_in_chunk(const int32_t *ids, int n, int chunk, F f) {
    int any = 0;
    for (int i = threadIdx.x % kWarp; i < n; i += kWarp) {
        const int id = ids[i];
        if (id / kDrawChunk != chunk) continue;
        f(i, id);
        any = 1;
    }
#pragma unroll
    for (int o = kWarp / 2; o > 0; o >>= 1) any |= SHFL_XOR(any, o);
    SYNC_WARP();
    return any;
}

// Notes the chunk's largest logit, the sum of its exponentials and whether one
// is NaN; then lowers the logits of banned and seen tokens, in place, and keeps
// what they were. A token that is both is kept as banned first, and so is put
// back last.
__global__ void __launch_bounds__(kScanWarps *kWarp) scan(DrawArgs a, int outputs) {
    int out, chunk;
    begin_early();
    if (!place(a, outputs, &out, &chunk)) return;
    const int row = a.row(out);
    const RowInput &in = a.input[row];
    if (in.draw == Draw::None || a.frozen(row)) return;
    float *logits = a.logits + out * a.stride;
    const Row all{logits, a.slots.limit, a.scratch.chunks, nullptr};
    float most = kNegInf, sum = 0;
    int nan = 0;
    {
        const Values<kPacks> values(logits, chunk, 0);
#pragma unroll
        for (int j = 0; j < kPacks; j++)
#pragma unroll
            for (int e = 0; e < kPack; e++) {
                const int id = chunk_id(chunk, j, e);
                nan |= id < a.vocab && values.v[j][e] != values.v[j][e];
                if (id < a.slots.limit) most = fmaxf(most, tame(values.v[j][e]));
            }
        most = warp_max(most);
        if (most > kNegInf)
#pragma unroll
            for (int j = 0; j < kPacks; j++)
#pragma unroll
                for (int e = 0; e < kPack; e++)
                    if (chunk_id(chunk, j, e) < a.slots.limit) sum += expf(tame(values.v[j][e]) - most);
        sum = warp_sum(sum);
    }
    if (nan) a.scratch.nan[out] = 1;

    const int64_t list = (int64_t)in.slot * a.slots.limit, kept = (int64_t)out * a.slots.limit;
    bool changed = each_in_chunk(a.bans + in.ban_offset, in.ban_count, chunk, [&](int i, int id) {
        a.scratch.ban_raw[in.ban_offset + i] = logits[id];
        logits[id] = kNegInf;
    });
    const int seen = in.penalised() ? a.slots.count_size[in.slot] : 0;
    changed |= each_in_chunk(a.slots.count_token + list, seen, chunk, [&](int i, int id) {
        const float z = logits[id];
        a.scratch.raw[kept + i] = z;
        logits[id] = z - penalty(in, a.slots.count_n[list + i], a.slots.count_first[list + i]);
    });
    float best = most;
    if (changed) {
        best = kNegInf;
        all.each(chunk, [&](int, float z) { best = fmaxf(best, z); });
        best = warp_max(best);
    }
    if (threadIdx.x % kWarp == 0) {
        const int at = out * a.scratch.chunks + chunk;
        a.scratch.best[at] = best;
        a.scratch.raw_best[at] = most;
        a.scratch.raw_sum[at] = sum;
    }
}

// A lane's own sums for each bucket: mass in the low bits, count above. Rows are
// padded so that lanes which read a column each do not meet in a bank.
struct BucketSums {
    static constexpr int kCountAt = 58; // 32 values of at most 2^44 are below
    uint64_t sum[kBuckets][kWarp + 1];
};

// The chunk's mass, untempered if a truncation needs it so, and for truncations
// how many values each bucket has, and their mass.
__global__ void __launch_bounds__(kScanWarps *kWarp) weigh(DrawArgs a, int outputs) {
    __shared__ BucketSums shared[kScanWarps];
    int out, chunk;
    begin_early();
    if (!place(a, outputs, &out, &chunk)) return;
    const int row = a.row(out), lane = threadIdx.x % kWarp;
    const RowInput &in = a.input[row];
    if (in.draw == Draw::None || in.draw == Draw::Greedy || a.frozen(row)) return;
    const float *best = a.scratch.best + out * a.scratch.chunks;
    float m = kNegInf;
    for (int c = lane; c < a.scratch.chunks; c += kWarp) m = fmaxf(m, best[c]);
    m = warp_max(m);
    const int64_t at = (int64_t)out * a.scratch.chunks + chunk;
    const Row all{a.logits + out * a.stride, a.slots.limit, a.scratch.chunks, best};
    const bool truncates = in.truncates(a.slots.limit);
    const float scale = in.draw == Draw::Rwkv && truncates ? kSoftmaxScale : in.scale;
    uint64_t sum = 0;
    if (!truncates || !(m > kNegInf)) {
        if (m > kNegInf) all.each(chunk, [&](int, float z) { sum += mass(z, m, scale); });
        sum = warp_sum(sum);
        if (lane == 0) a.scratch.mass[at] = sum;
        return;
    }
    BucketSums &sums = shared[threadIdx.x / kWarp];
    for (int b = 0; b < kBuckets; b++) sums.sum[b][lane] = 0;
    all.each(chunk, [&](int, float z) {
        const uint64_t v = mass(z, m, scale);
        sum += v;
        sums.sum[bucket_of(z, m, scale)][lane] += v + (1ull << BucketSums::kCountAt);
    });
    sum = warp_sum(sum);
    if (lane == 0) a.scratch.mass[at] = sum;
    SYNC_WARP();
    if (lane >= kBuckets) return;
    uint64_t own = 0;
    int count = 0;
    for (int i = 0; i < kWarp; i++) {
        const uint64_t v = sums.sum[lane][i];
        own += v & ((1ull << BucketSums::kCountAt) - 1);
        count += (int)(v >> BucketSums::kCountAt);
    }
    a.scratch.bucket_mass[at * kBuckets + lane] = own;
    a.scratch.bucket_count[at * kBuckets + lane] = count;
}

} // namespace

void scan_logits(const DrawArgs &a, int outputs, gpuStream stream) {
    const int blocks = (int)ceil_div((int64_t)a.scratch.chunks * outputs, kScanWarps);
    launch_early(scan, blocks, kScanWarps * kWarp, 0, stream, a, outputs);
    launch_early(weigh, blocks, kScanWarps * kWarp, 0, stream, a, outputs);
}

} // namespace sampling
