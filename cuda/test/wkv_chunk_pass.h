// wkv_chunk_pass.h: inputs of the chunked time mix, and one layer's buffers with rows of
// them on the device.
//
// Inputs are functions of a row's key, the token's number in the row and the channel, so
// that a row can stand anywhere in a pass and the reference needs no copy.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "layer/wkv_chunk.h"

namespace {

constexpr int N = 64;

void must(gpuError e, const char *doing) {
    if (e == gpuSuccess) return;
    std::fprintf(stderr, "%s: %s\n", doing, gpuErrorString(e));
    std::exit(2);
}

// ---- inputs -----------------------------------------------------------------

enum class Kind : int { Plain, Fast, Slow, Spread, Same, Period };
const char *const kKinds[] = {"plain", "fastest decay", "slow decay", "spread decays", "same keys", "period of 4"};

enum Array : int { kR, kK, kV, kUpV, kUpW, kUpA, kUpG, kFirst, kW0, kA0, kV0, kKk, kKa, kRk, kGnWeight, kGnBias, kStateOf };

// A nearly normal value, the same on host and device.
__host__ __device__ inline float normal(uint64_t i, uint64_t j, uint64_t k) {
    uint64_t z = (i * 0x9E3779B97F4A7C15ull) ^ (j * 0xD1B54A32D192ED03ull) ^ ((k + 1) * 0x8CB92BA72F3D8DD7ull);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    const int sum = (int)(z & 0xffff) + (int)(z >> 16 & 0xffff) + (int)(z >> 32 & 0xffff) + (int)(z >> 48) - 131070;
    return (float)sum * (1.0f / 37837.0f);
}

// An input of token t of the row with that key, channel c of all heads.
__host__ __device__ inline float activation(Kind kind, Array array, uint64_t key, int t, int c) {
    if (kind == Kind::Period && (array == kK || array == kV)) t %= 4;
    float v = normal(key * 64 + array, t, c);
    if (kind == Kind::Same && array == kK) v = normal(key * 64 + array, 0, c) + 0.02f * v;
    if (array == kUpW) v *= 0.5f;
    if (array == kUpG || array == kFirst) v *= 0.7f;
    return v;
}

float parameter(Kind kind, Array array, int c) {
    const float v = normal(array, 77, c);
    switch (array) {
    case kW0:
        if (kind == Kind::Fast) return 50;
        if (kind == Kind::Slow) return v - 9;
        if (kind == Kind::Spread) return 3 * v - 2;
        if (kind == Kind::Same) return -12;
        return v * 2 - 2;
    case kA0: return kind == Kind::Same ? 7.0f : kind == Kind::Period ? v + 3 : v;
    case kKk: return 1 + 0.3f * v;
    case kKa: return 0.9f + 0.1f * v;
    case kRk: return 0.2f * v;
    case kGnWeight: return 1 + 0.2f * v;
    case kGnBias: return 0.2f * v;
    default: return v;
    }
}

template <typename E> __global__ void fill(E *p, const int2 *tokens, int64_t channels, Kind kind, Array array) {
    const int64_t t = blockIdx.y;
    for (int64_t c = blockIdx.x * blockDim.x + threadIdx.x; c < channels; c += (int64_t)gridDim.x * blockDim.x)
        p[t * channels + c] = from_float<E>(activation(kind, array, tokens[t].x, tokens[t].y, (int)c));
}

// ---- a pass -----------------------------------------------------------------

template <typename T> struct Buffer {
    T *p = nullptr;
    int64_t n = 0;
    explicit Buffer(int64_t count) : n(count) {
        void *at = nullptr;
        must(gpuMalloc(&at, n * sizeof(T)), "allocating");
        p = static_cast<T *>(at);
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { (void)gpuFree(p); }
    void put(const std::vector<T> &v) { must(gpuMemcpyAsync(p, v.data(), v.size() * sizeof(T), gpuToDevice, 0), "uploading"), wait(); }
    std::vector<T> get() const {
        std::vector<T> v(n);
        must(gpuMemcpyAsync(v.data(), p, n * sizeof(T), gpuToHost, 0), "downloading"), wait();
        return v;
    }
    static void wait() { must(gpuDeviceSynchronize(), "waiting"); }
};

struct Row {
    int key, count;
};

// One layer's buffers for those rows; row i has slot rows-1-i. Rows of fewer
// than 16 tokens are not in the table.
template <typename E, typename S> struct Pass {
    std::vector<Row> rows;
    std::vector<int> first;
    int tokens = 0, heads, channels;
    Kind kind;
    ChunkMix m = {};
    Buffer<E> rkv, up, v_first, y;
    Buffer<float> vectors;
    Buffer<S> state;
    Buffer<int32_t> row_slot;
    Buffer<ChunkTile> tiles;
    Buffer<ChunkRow> table;
    Buffer<uint8_t> records;
    std::vector<ChunkTile> host_tiles;
    std::vector<ChunkRow> host_table;

    static int total(const std::vector<Row> &rows) {
        int n = 0;
        for (const Row &r : rows) n += r.count;
        return n;
    }
    static int tiles_of(const std::vector<Row> &rows) {
        int n = 0;
        for (const Row &r : rows) n += r.count < kChunkTokens ? 0 : chunk_tiles(r.count);
        return n;
    }

    Pass(std::vector<Row> rows_, int heads_, Kind kind_, bool layer0)
        : rows(rows_), tokens(total(rows_)), heads(heads_), channels(heads_ * N), kind(kind_), rkv(3ll * (tokens + 3) * channels),
          up(4ll * (tokens + 3) * channels), v_first((int64_t)tokens * channels), y((int64_t)tokens * channels), vectors(8 * channels),
          state((int64_t)rows.size() * heads * N * N), row_slot(rows.size()), tiles(tiles_of(rows) + 1), table(rows.size() + 1),
          records(chunk_record_bytes() * heads * tiles_of(rows)) {
        std::vector<int32_t> slots;
        int at = 0;
        for (size_t i = 0; i < rows.size(); i++) {
            first.push_back(at);
            slots.push_back((int)(rows.size() - 1 - i));
            if (rows[i].count >= kChunkTokens) {
                host_table.push_back({(int)i, at, rows[i].count, (int)host_tiles.size()});
                for (int t = 0; t < rows[i].count; t += kChunkTokens) host_tiles.push_back({at + t, std::min(kChunkTokens, rows[i].count - t)});
            }
            at += rows[i].count;
        }
        row_slot.put(slots);
        tiles.put(host_tiles);
        table.put(host_table);
        m.bf16 = sizeof(E) == 2 && std::is_same<E, bf16>::value;
        m.state_half = sizeof(S) == 2;
        m.heads = heads;
        m.stride = (int64_t)(tokens + 3) * channels;
        m.rkv = rkv.p;
        m.up = up.p;
        m.gate = up.p + 3ll * channels * (tokens + 3);
        m.v_first = v_first.p;
        m.y = y.p;
        const float **to[] = {&m.w0, &m.a0, &m.v0, &m.k_k, &m.k_a, &m.r_k, &m.gn_weight, &m.gn_bias};
        std::vector<float> values;
        for (int i = 0; i < 8; i++) {
            *to[i] = vectors.p + (int64_t)i * channels;
            for (int c = 0; c < channels; c++) values.push_back(parameter(kind, Array(kW0 + i), c));
        }
        vectors.put(values);
        if (layer0) m.v0 = nullptr;
        m.state = state.p;
        m.row_slot = row_slot.p;
        m.spare = (int)rows.size();
        m.tiles = tiles.p;
        m.rows = table.p;
        m.tile_count = (int)host_tiles.size();
        m.row_count = (int)host_table.size();
        m.records = records.p;
        fill_all();
    }

    static float state_at(Kind, int key, int head, int i, int j) { return 0.5f * normal(key * 64 + kStateOf, head * N + i, j); }

    void fill_all() {
        std::vector<int2> owners;
        for (const Row &r : rows)
            for (int t = 0; t < r.count; t++) owners.push_back(make_int2(r.key, t));
        Buffer<int2> of(tokens);
        of.put(owners);
        const Array arrays[] = {kR, kK, kV, kUpV, kUpW, kUpA, kUpG, kFirst};
        for (int i = 0; i < 8; i++) {
            E *to = i < 3 ? rkv.p + i * m.stride : i < 7 ? up.p + (i - 3) * m.stride : v_first.p;
            fill<E><<<dim3((channels + 255) / 256, tokens), 256>>>(to, of.p, channels, kind, arrays[i]);
        }
        must(gpuLastError(), "filling");
        Buffer<E>::wait();
        reset();
    }

    // Sets the state before the pass, and fills outputs with values that would be noticed.
    void reset() {
        std::vector<S> s(state.n);
        for (size_t i = 0; i < rows.size(); i++)
            for (int h = 0; h < heads; h++)
                for (int e = 0; e < N * N; e++)
                    s[((rows.size() - 1 - i) * heads + h) * N * N + e] = from_float<S>(state_at(kind, rows[i].key, h, e / N, e % N));
        state.put(s);
        must(gpuMemsetAsync(y.p, 0xff, y.n * sizeof(E), 0), "poisoning");
        must(gpuMemsetAsync(records.p, 0xff, records.n, 0), "poisoning");
        Buffer<E>::wait();
    }

    void run() {
        mix_chunks(m, 0);
        must(gpuLastError(), "launching");
        Buffer<E>::wait();
    }
};

} // namespace
