// wkv_chunk_scan.cu: through the tiles of a row in order, with the records that
// prepare_chunks left (wkv_chunk.h has the maths).
//
// A block has one head of one row. Its first four warps have 16 value rows of S
// each, in registers, as C of a product: neighbouring tiles of it are operands A
// of the next tile's Uᵀ = V ᵀGᵀ + S Wᵀ and Yᵀ = Vᵀ Hᵀ + S Rᵀ, and so is Uᵀ of
// S + Uᵀ (B̄ diag F). The other four copy records to shared memory, some tiles
// ahead, and finish the outputs of the tile before:
//   y = (GN(Y) + bonus v) ⊙ g
#include "wkv_chunk_record.h"
#include "wkv_chunk_tile.h"

namespace {

constexpr int kScanWarps = kChunkHead / 16;
constexpr int kThreads = 2 * kScanWarps * kWarp;
constexpr int kStages = 4; // records in shared memory: one to finish, one to go through, two to come
constexpr float kHeadEps = 64e-5f;

struct Shared {
    ChunkRecord record[kStages];
    uint4 gate[kStages][kThreads / 2]; // g of a slot's eight values, by the thread that finishes them
    float y[2][kChunkTokens][kChunkHead + 4]; // of even and odd tiles, at kStateScale
    float weight[kChunkHead], bias[kChunkHead]; // of the head norm
};

// ---- the state --------------------------------------------------------------

// A value of S as it is kept. fp16 states are rounded up or down by a hash of
// the value, so that the mean is right (timemix.cu).
template <typename S> __device__ inline S keep(float v) { return from_float<S>(v); }

template <> __device__ inline half keep<half>(float v) {
    uint32_t bits = __float_as_uint(v), h = bits * 0x9E3779B1u;
    h ^= h >> 15;
    h *= 0x85EBCA77u;
    constexpr uint32_t kLost = (1u << 13) - 1;               // bits that fp16 has not
    constexpr uint32_t kNormal = 0x38800000u;                // fp16's least normal number
    if ((bits & 0x7fffffffu) >= kNormal) v = __uint_as_float((bits + (h >> 19 & kLost)) & ~kLost);
    return from_float_bounded<half>(v);
}

// 16 value rows of S: tile u of C has channels 8u .. 8u+7.
struct State {
    float s[8][4];

    template <typename S> __device__ void load(const S *head, int value, int g, int q) {
#pragma unroll
        for (int u = 0; u < 8; u++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                s[u][i] = to_float(head[(value + g + i / 2 * 8) * kChunkHead + 8 * u + 2 * q + i % 2]) * kStateScale;
    }

    template <typename S> __device__ void store(S *head, int value, int g, int q) const {
#pragma unroll
        for (int u = 0; u < 8; u++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                head[(value + g + i / 2 * 8) * kChunkHead + 8 * u + 2 * q + i % 2] = keep<S>(s[u][i] * (1.0f / kStateScale));
    }
};

// Two tiles of C in the making. Each has a sum per term, so that products need
// not wait for each other.
struct Sums {
    float c[3][2][4] = {};

    // Adds A B for an operand that prepare_chunks stored, of kTerms terms; A has kTermsA.
    template <int kTermsA, int kTerms> __device__ void add(const Operand &a, const uint4 &hi, const uint4 &lo) {
        multiply<half>(c[0][0], a.hi, hi.x, hi.y);
        multiply<half>(c[0][1], a.hi, hi.z, hi.w);
        if (kTermsA == 2) {
            multiply<half>(c[1][0], a.lo, hi.x, hi.y);
            multiply<half>(c[1][1], a.lo, hi.z, hi.w);
        }
        if (kTerms == 2) {
            multiply<half>(c[2][0], a.hi, lo.x, lo.y);
            multiply<half>(c[2][1], a.hi, lo.z, lo.w);
        }
    }

    __device__ void total(float (&t)[2][4]) const {
#pragma unroll
        for (int n = 0; n < 2; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) t[n][i] = c[0][n][i] + (c[1][n][i] + c[2][n][i]);
    }
};

// Operands B of channels 16 step .. +15 of an image: two tiles of 8 channels.
__device__ inline void load_image(uint32_t (&b)[4], const ChunkImage &image, int step, int lane) {
    const int slot = lane % 8 + lane / 8 % 2 * 8;
    load_matrices_transposed(b, &image.piece[slot][ChunkImage::place(slot, 2 * step + lane / 16)]);
}

// S += Aᵀ B for channels 32 half .. +31, B an image in two terms; A has kTermsA.
// Products of one tile of S come far from each other.
template <int kTermsA> __device__ inline void add_image(State &state, const Operand &a, const ChunkImage (&image)[2], int half_, int lane) {
    uint32_t b[2][2][4]; // by term and step
#pragma unroll
    for (int term = 0; term < 2; term++)
#pragma unroll
        for (int i = 0; i < 2; i++) load_image(b[term][i], image[term], 2 * half_ + i, lane);
#pragma unroll
    for (int term = 0; term < 3; term++) {
        if (term == 1 && kTermsA == 1) continue;
#pragma unroll
        for (int u = 0; u < 4; u++) {
            const uint32_t(&pair)[4] = b[term == 2][u / 2];
            multiply<half>(state.s[4 * half_ + u], term == 1 ? a.lo : a.hi, pair[u % 2 * 2], pair[u % 2 * 2 + 1]);
        }
    }
}

// One tile: y is left in shared memory, S is that after the tile. The order is
// that in which tensor cores are kept busy, with what the next tile waits for
// first.
__device__ inline void go_through(State &state, const ChunkRecord &r, float (&y_out)[kChunkTokens][kChunkHead + 4], int warp, int lane) {
    const int g = lane / 4, q = lane % 4;
    uint4 w[kTermsW][4];
#pragma unroll
    for (int term = 0; term < kTermsW; term++)
#pragma unroll
        for (int step = 0; step < 4; step++) w[term][step] = r.w[term][step][lane];
    // Vᵀ: value rows 16 warp .. +15 of it, by slots.
    Operand v;
    const int slot = lane % 8 + lane / 16 * 8, place = ChunkImage::place(slot, 2 * warp + lane / 8 % 2);
    load_matrices_transposed(v.hi, &r.v[0].piece[slot][place]);
    if (kTermsV == 2) load_matrices_transposed(v.lo, &r.v[kTermsV - 1].piece[slot][place]);

    Operand old[4]; // S before the tile
    Sums u, y;
#pragma unroll
    for (int step = 0; step < 4; step++) split<half>(old[step], state.s[2 * step], state.s[2 * step + 1]);
#pragma unroll
    for (int step = 0; step < 4; step++) u.add<2, kTermsW>(old[step], w[0][step], w[kTermsW - 1][step]);
    u.add<kTermsV, kTermsG>(v, r.g[0][lane], r.g[kTermsG - 1][lane]);
#pragma unroll
    for (int half_ = 0; half_ < 2; half_++) {
#pragma unroll
        for (int i = 4 * half_; i < 4 * half_ + 4; i++) {
            const float2 f = *reinterpret_cast<const float2 *>(&r.f[8 * i + 2 * q]);
            state.s[i][0] *= f.x;
            state.s[i][1] *= f.y;
            state.s[i][2] *= f.x;
            state.s[i][3] *= f.y;
        }
        add_image<kTermsV>(state, v, r.k, half_, lane);
    }
    Operand ua;
    float sum[2][4];
    u.total(sum);
    split<half>(ua, sum[0], sum[1]);
#pragma unroll
    for (int half_ = 0; half_ < 2; half_++) add_image<2>(state, ua, r.b, half_, lane);
    y.add<kTermsV, kTermsH>(v, r.h[0][lane], r.h[kTermsH - 1][lane]);
#pragma unroll
    for (int step = 0; step < 4; step++) y.add<2, kTermsR>(old[step], r.r[0][step][lane], r.r[kTermsR - 1][step][lane]);
    y.total(sum);
#pragma unroll
    for (int n = 0; n < 2; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) y_out[8 * n + 2 * q + i % 2][16 * warp + g + i / 2 * 8] = sum[n][i];
}

// ---- outputs ----------------------------------------------------------------

__device__ inline float sum_over_eight_lanes(float v) {
    v += SHFL_XOR(v, 1);
    v += SHFL_XOR(v, 2);
    return v + SHFL_XOR(v, 4);
}

// Eight values of one slot a thread.
template <typename E> struct Finisher {
    int slot, piece, count;
    int64_t channels;
    const E *gates; // of the row's first tile, this slot and piece
    E *out;

    __device__ Finisher(const ChunkMix &m, const ChunkRow &row, int head, int thread) {
        slot = thread / 8;
        piece = thread % 8;
        channels = (int64_t)m.heads * kChunkHead;
        count = row.count;
        const int channel = head * kChunkHead + 8 * piece;
        const int64_t at = (row.first + token_of(slot)) * channels + channel;
        gates = static_cast<const E *>(m.up) + 3 * m.stride + at;
        out = static_cast<E *>(m.y) + at;
    }

    __device__ bool has(int tile) const { return tile * kChunkTokens + token_of(slot) < count; }

    // Starts copying what finish needs of that tile.
    __device__ void expect(int tile, uint4 &gate) const {
        if (has(tile)) copy16(&gate, gates + tile * kChunkTokens * channels);
    }

    __device__ void finish(int tile, const Shared &shared) const {
        const ChunkRecord &r = shared.record[tile % kStages];
        float y[8], sum = 0, squares = 0;
        load8(y, &shared.y[tile % 2][slot][8 * piece]);
#pragma unroll
        for (int e = 0; e < 8; e++) {
            y[e] *= 1.0f / kStateScale;
            sum += y[e];
        }
        const float mean = sum_over_eight_lanes(sum) / kChunkHead;
#pragma unroll
        for (int e = 0; e < 8; e++) {
            y[e] -= mean;
            squares += y[e] * y[e];
        }
        const float scale = rsqrtf(sum_over_eight_lanes(squares) / kChunkHead + kHeadEps);
        if (!has(tile)) return;
        float v[8] = {};
#pragma unroll
        for (int term = 0; term < kTermsV; term++) {
            const uint4 kept = r.v[term].piece[slot][ChunkImage::place(slot, piece)];
            const uint32_t pairs[4] = {kept.x, kept.y, kept.z, kept.w};
#pragma unroll
            for (int e = 0; e < 8; e += 2) {
                float pair[2];
                unpack<half>(pairs[e / 2], pair[0], pair[1]);
                v[e] += pair[0];
                v[e + 1] += pair[1];
            }
        }
        const float bonus = r.bonus[slot] * (1.0f / kStateScale);
        float by[8], weight[8], bias[8];
        load8(weight, shared.weight + 8 * piece);
        load8(bias, shared.bias + 8 * piece);
        load8(by, reinterpret_cast<const E *>(&shared.gate[tile % kStages][slot * 8 + piece]));
#pragma unroll
        for (int e = 0; e < 8; e++) y[e] = (y[e] * scale * weight[e] + bias[e] + bonus * v[e]) * by[e];
        store8(out + tile * kChunkTokens * channels, y);
    }
};

// Starts copying a record, by the threads of four warps.
__device__ inline void copy_record(ChunkRecord &to, const ChunkRecord &from, int thread) {
    constexpr int pieces = sizeof(ChunkRecord) / 16, threads = kThreads / 2;
#pragma unroll
    for (int i = 0; i < pieces; i += threads)
        if (i + threads <= pieces || i + thread < pieces)
            copy16(reinterpret_cast<uint4 *>(&to) + i + thread, reinterpret_cast<const uint4 *>(&from) + i + thread);
}

// grid (heads, rows of the table)
template <typename E, typename S> __global__ void __launch_bounds__(kThreads, 2) scan(ChunkMix m) {
    extern __shared__ uint4 memory[];
    Shared &shared = *reinterpret_cast<Shared *>(memory);
    const ChunkRow row = m.rows[blockIdx.y];
    const int slot = m.row_slot[row.row], head = blockIdx.x, tiles = (row.count + kChunkTokens - 1) / kChunkTokens;
    if (slot == m.spare) return;
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    const ChunkRecord *records = static_cast<const ChunkRecord *>(m.records) + (int64_t)row.tile * m.heads + head;

    S *s = static_cast<S *>(m.state) + ((int64_t)slot * m.heads + head) * kChunkHead * kChunkHead;
    const bool scans = warp < kScanWarps;
    const int thread = threadIdx.x % (kThreads / 2);
    State state;
    const Finisher<E> finisher(m, row, head, thread);
    // Starts copying what belongs to a tile; an empty group beyond the last one.
    auto copy = [&](int tile) {
        if (tile < tiles) {
            copy_record(shared.record[tile % kStages], records[(int64_t)tile * m.heads], thread);
            finisher.expect(tile, shared.gate[tile % kStages][thread]);
        }
        commit_copies();
    };
    if (threadIdx.x < kChunkHead) {
        shared.weight[threadIdx.x] = m.gn_weight[head * kChunkHead + threadIdx.x];
        shared.bias[threadIdx.x] = m.gn_bias[head * kChunkHead + threadIdx.x];
    }
    if (scans) {
        state.load(s, 16 * warp, lane / 4, lane % 4);
    } else {
#pragma unroll
        for (int n = 0; n < kStages - 2; n++) copy(n);
    }
    // When round n begins the records of tiles up to n are there. In it tile n is
    // gone through, tile n-1 is finished and the copy of n+kStages-2 is started,
    // where n-2 was.
    for (int n = 0; n <= tiles; n++) {
        if (!scans) wait_copies<kStages - 3>();
        __syncthreads();
        if (scans) {
            if (n < tiles) go_through(state, shared.record[n % kStages], shared.y[n % 2], warp, lane);
        } else {
            copy(n + kStages - 2);
            if (n > 0) finisher.finish(n - 1, shared);
        }
    }
    if (scans) state.store(s, 16 * warp, lane / 4, lane % 4);
}

template <typename E, typename S> void launch(const ChunkMix &m, gpuStream stream) {
    allow_shared(scan<E, S>, sizeof(Shared));
    scan<E, S><<<dim3(m.heads, m.row_count), kThreads, sizeof(Shared), stream>>>(m);
}

template <typename E> void launch(const ChunkMix &m, gpuStream stream) {
    if (m.state_half)
        launch<E, half>(m, stream);
    else
        launch<E, float>(m, stream);
}

} // namespace

int64_t chunk_record_bytes() { return sizeof(ChunkRecord); }

void scan_chunks(const ChunkMix &m, gpuStream stream) {
    if (m.bf16)
        launch<bf16>(m, stream);
    else
        launch<half>(m, stream);
}

void mix_chunks(const ChunkMix &m, gpuStream stream) {
    if (m.tile_count == 0) return;
    prepare_chunks(m, stream);
    scan_chunks(m, stream);
}
