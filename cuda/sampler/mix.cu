// mix.cu: the logits of mixes. A block has one chunk of one row.
#include "sampler/mix.h"

namespace sampling {

namespace {

constexpr int kMixThreads = kDrawChunk / kPack, kMixWarps = kMixThreads / kWarp;

__device__ inline float4 load_pack(const DrawArgs &a, int out, int at) { return *reinterpret_cast<const float4 *>(a.logits + out * a.stride + at); }

// z = g*x, or z = z + g*x: each rounded by itself.
__device__ inline float4 scaled(float g, float4 x) { return {__fmul_rn(g, x.x), __fmul_rn(g, x.y), __fmul_rn(g, x.z), __fmul_rn(g, x.w)}; }

__device__ inline float4 plus(float4 z, float4 x) { return {__fadd_rn(z.x, x.x), __fadd_rn(z.y, x.y), __fadd_rn(z.z, x.z), __fadd_rn(z.w, x.w)}; }

// A pack of the logits of the mix that begins with this row.
__device__ float4 combined(const DrawArgs &a, int out, const RowInput &in, int at, float4 own) {
    float4 z = scaled(in.weight, own);
#pragma unroll 4
    for (int k = 1; k <= in.members; k++) {
        const float weight = a.input[a.row(out + k)].weight;
        const float4 x = load_pack(a, out + k, at);
        if (weight != 0) z = plus(z, scaled(weight, x));
    }
    return z;
}

// A pack's largest logit and the sum of exp(logit - largest), of ids below limit.
__device__ Extremes extremes(float4 x, int first, int limit) {
    const float v[kPack] = {x.x, x.y, x.z, x.w};
    float z[kPack], most = kNegInf, sum = 0;
#pragma unroll
    for (int e = 0; e < kPack; e++) most = fmaxf(most, z[e] = first + e < limit ? tame(v[e]) : kNegInf);
#pragma unroll
    for (int e = 0; e < kPack; e++)
        if (most > kNegInf) sum += __expf(z[e] - most);
    return {most, sum, 0};
}

__global__ void __launch_bounds__(kMixThreads) mix_rows(DrawArgs a) {
    __shared__ Extremes shared[kMixWarps];
    begin_early();
    const int chunk = blockIdx.x, out = blockIdx.y, at = chunk * kDrawChunk + threadIdx.x * kPack;
    const RowInput &in = a.input[a.row(out)];
    if (in.members == 0 && in.draw != Draw::Member) return;
    const float4 own = load_pack(a, out, at);
    if (in.members > 0) *reinterpret_cast<float4 *>(a.scratch.mixed + (out / 2) * a.stride + at) = combined(a, out, in, at, own);
    Extremes mine = extremes(own, at, a.slots.limit);
    mine.join();
    if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < kMixWarps; w++) mine.add_raw(shared[w].raw_best, shared[w].raw_sum);
    a.scratch.parts[(int64_t)out * gridDim.x + chunk] = {mine.raw_best, mine.raw_sum};
}

} // namespace

void mix(const DrawArgs &a, gpuStream stream) {
    launch_early(mix_rows, dim3((unsigned)(a.stride / kDrawChunk), a.outputs), kMixThreads, 0, stream, a);
}

} // namespace sampling
