// wkv_chunk_test.cu: checks the chunked time mix against float64 and times it.
//
//   wkv_chunk_test check   accuracy, rows of all lengths, independence; exit status 1 on a failure
//   wkv_chunk_test time    milliseconds a layer of released shapes
//
// Inputs are functions of a row's key, the token's number in it and the channel,
// so that a row can stand anywhere in a pass, and the reference needs no copy.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
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

// Nearly normal, the same on host and device.
__host__ __device__ inline float normal(uint64_t i, uint64_t j, uint64_t k) {
    uint64_t z = (i * 0x9E3779B97F4A7C15ull) ^ (j * 0xD1B54A32D192ED03ull) ^ ((k + 1) * 0x8CB92BA72F3D8DD7ull);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    const int sum = (int)(z & 0xffff) + (int)(z >> 16 & 0xffff) + (int)(z >> 32 & 0xffff) + (int)(z >> 48) - 131070;
    return (float)sum * (1.0f / 37837.0f);
}

// Of token t of the row with that key, channel c of all heads.
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

    // The state before the pass, and outputs that would be noticed.
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

// ---- the reference ----------------------------------------------------------

double sigma(double v) { return 1 / (1 + std::exp(-v)); }

struct Reference {
    std::vector<double> y, s; // [count][N], [N][N]
};

template <typename E, typename S> Reference reference(const Pass<E, S> &p, int row, int head, bool layer0) {
    const Row r = p.rows[row];
    Reference out{std::vector<double>((size_t)r.count * N), std::vector<double>(N * N)};
    for (int e = 0; e < N * N; e++) out.s[e] = to_float(from_float<S>(p.state_at(p.kind, r.key, head, e / N, e % N)));
    std::vector<double> w(N), kk(N), kt(N), rate(N), v(N), q(N);
    for (int t = 0; t < r.count; t++) {
        auto of = [&](Array a, int j) { return (double)to_float(from_float<E>(activation(p.kind, a, r.key, t, head * N + j))); };
        auto par = [&](Array a, int j) { return (double)parameter(p.kind, a, head * N + j); };
        double square = 0, bonus = 0;
        for (int j = 0; j < N; j++) {
            const double k = of(kK, j);
            w[j] = std::exp(-std::exp(-0.5) * sigma(par(kW0, j) + of(kUpW, j)));
            rate[j] = sigma(par(kA0, j) + of(kUpA, j));
            kk[j] = k * par(kKk, j);
            square += kk[j] * kk[j];
            kt[j] = k * (1 + (rate[j] - 1) * par(kKa, j));
            q[j] = of(kR, j);
            v[j] = of(kV, j);
            if (!layer0) v[j] += (of(kFirst, j) - v[j]) * sigma(par(kV0, j) + of(kUpV, j));
            bonus += q[j] * kt[j] * par(kRk, j);
        }
        for (double &x : kk) x /= std::max(std::sqrt(square), 1e-12);
        double y[N], mean = 0, variance = 0;
        for (int i = 0; i < N; i++) {
            double *s = &out.s[i * N], removed = 0;
            for (int j = 0; j < N; j++) removed -= s[j] * kk[j];
            y[i] = 0;
            for (int j = 0; j < N; j++) {
                s[j] = s[j] * w[j] + removed * kk[j] * rate[j] + v[i] * kt[j];
                y[i] += s[j] * q[j];
            }
            mean += y[i] / N;
        }
        for (double x : y) variance += (x - mean) * (x - mean) / N;
        for (int i = 0; i < N; i++)
            out.y[(size_t)t * N + i] = ((y[i] - mean) / std::sqrt(variance + 64e-5) * par(kGnWeight, i) + par(kGnBias, i) + bonus * v[i]) * of(kUpG, i);
    }
    return out;
}

struct Sum {
    double error = 0, size = 0;
    void add(double got, double want) { error += (got - want) * (got - want), size += want * want; }
    double relative() const { return std::sqrt(error / size); }
};

int failures = 0;

void expect(bool ok, const char *what) {
    if (ok) return;
    std::printf("  FAILED: %s\n", what);
    failures++;
}

// Runs the rows and compares the heads 0, step, 2 step ... with the reference.
// What rounding y to E alone would give is taken off its error.
template <typename E, typename S> void accuracy(const char *name, Kind kind, std::vector<Row> rows, int heads, int step, bool layer0) {
    Pass<E, S> p(rows, heads, kind, layer0);
    p.run();
    const std::vector<E> y = p.y.get(), first = p.v_first.get();
    const std::vector<S> s = p.state.get();
    Sum of_y, rounding, of_s;
    bool kept = true;
    for (int i = 0; i < (int)rows.size(); i++)
        for (int h = 0; h < heads; h += step) {
            const bool taken = rows[i].count >= kChunkTokens;
            const S *state = &s[((rows.size() - 1 - i) * heads + h) * N * N];
            if (!taken) { // untouched
                for (int e = 0; e < N * N; e++) kept &= to_float(state[e]) == to_float(from_float<S>(p.state_at(kind, rows[i].key, h, e / N, e % N)));
                uint16_t bits;
                std::memcpy(&bits, &y[(size_t)p.first[i] * p.channels + h * N], 2);
                kept &= bits == 0xffff;
                continue;
            }
            const Reference want = reference(p, i, h, layer0);
            for (int t = 0; t < rows[i].count; t++)
                for (int c = 0; c < N; c++) {
                    const size_t at = (size_t)(p.first[i] + t) * p.channels + h * N + c;
                    const double w = want.y[(size_t)t * N + c];
                    of_y.add(to_float(y[at]), w);
                    rounding.add(to_float(from_float<E>((float)w)), w);
                    if (layer0) kept &= to_float(first[at]) == to_float(from_float<E>(activation(kind, kV, rows[i].key, t, h * N + c)));
                }
            for (int e = 0; e < N * N; e++) of_s.add(to_float(state[e]), want.s[e]);
        }
    const double own = std::sqrt(std::max(0.0, of_y.relative() * of_y.relative() - rounding.relative() * rounding.relative()));
    std::printf("%-34s y %.2e (rounding %.2e, own %.2e)  S %.2e\n", name, of_y.relative(), rounding.relative(), own, of_s.relative());
    expect(of_y.relative() < 1.2 * rounding.relative() + 1e-4, "y");
    expect(of_s.relative() < (sizeof(S) == 2 ? 6e-4 : 2e-4), "S");
    expect(kept, "what is not the pass's was left as it was, v_first was written");
}

// A row alone and among others, and twice: bit for bit.
template <typename E, typename S> void independence(const char *name) {
    Pass<E, S> together({{1, 16}, {2, 17}, {3, 31}, {90, 1}, {4, 1700}, {91, 15}, {5, 100}, {6, 333}, {92, 3}, {7, 1024}}, 3, Kind::Plain, false);
    together.run();
    const std::vector<E> y = together.y.get();
    const std::vector<S> s = together.state.get();
    together.reset();
    together.run();
    const std::vector<E> again = together.y.get();
    bool same = std::memcmp(y.data(), again.data(), y.size() * sizeof(E)) == 0;
    const std::vector<S> s_again = together.state.get();
    same &= std::memcmp(s.data(), s_again.data(), s.size() * sizeof(S)) == 0;
    for (size_t i = 0; i < together.rows.size(); i++) {
        if (together.rows[i].count < kChunkTokens) continue;
        Pass<E, S> alone({together.rows[i]}, 3, Kind::Plain, false);
        alone.run();
        const std::vector<E> own = alone.y.get();
        const std::vector<S> own_s = alone.state.get();
        same &= std::memcmp(own.data(), &y[(size_t)together.first[i] * together.channels], own.size() * sizeof(E)) == 0;
        same &= std::memcmp(own_s.data(), &s[(together.rows.size() - 1 - i) * 3 * N * N], own_s.size() * sizeof(S)) == 0;
    }
    std::printf("%-34s %s\n", name, same ? "bit for bit" : "differs");
    expect(same, "a row's result depends on others, or on the run");
}

int check(int quick) {
    const int heads = quick ? 1 : 4, length = quick ? 40 : 1024;
    for (int k = 0; k < 6; k++)
        accuracy<half, float>((std::string("fp16, ") + kKinds[k]).c_str(), Kind(k), {{1, length}}, heads, 1, false);
    if (quick) return failures != 0;
    accuracy<half, float>("fp16, layer 0, rows", Kind::Plain, {{1, 16}, {2, 1}, {3, 17}, {4, 31}, {5, 15}, {6, 33}, {7, 250}}, 5, 1, true);
    accuracy<half, float>("fp16, rows in segments", Kind::Slow, {{1, 40}, {2, 2100}, {3, 512}, {4, 513}, {5, 1040}}, 3, 1, false);
    accuracy<half, half>("fp16, fp16 state", Kind::Plain, {{1, 300}, {2, 64}}, 3, 1, false);
    accuracy<bf16, float>("bf16", Kind::Plain, {{1, 300}, {2, 64}}, 3, 1, false);
    accuracy<bf16, half>("bf16, fp16 state, slow decay", Kind::Slow, {{1, 300}, {2, 64}}, 3, 1, true);
    accuracy<half, float>("fp16, 64 heads, 4096 tokens", Kind::Spread, {{1, 4096}}, 64, 21, false);
    independence<half, float>("fp16");
    independence<bf16, half>("bf16, fp16 state");
    return failures != 0;
}

// ---- times ------------------------------------------------------------------

struct Timer {
    gpuEvent e[3];
    Timer() {
        for (gpuEvent &x : e) must(gpuEventCreate(&x), "making an event");
    }
    float between(int a, int b) {
        float ms = 0;
        must(gpuEventElapsed(&ms, e[a], e[b]), "timing");
        return ms;
    }
};

float median(std::vector<float> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

void times(int heads, int rows, int count) {
    std::vector<Row> list;
    for (int i = 0; i < rows; i++) list.push_back({i + 1, count});
    Pass<half, float> p(list, heads, Kind::Spread, false);
    Timer timer;
    std::vector<float> prepare, scan;
    for (int i = 0; i < 25; i++) {
        must(gpuEventRecord(timer.e[0], 0), "timing");
        prepare_chunks(p.m, 0);
        must(gpuEventRecord(timer.e[1], 0), "timing");
        scan_chunks(p.m, 0);
        must(gpuEventRecord(timer.e[2], 0), "timing");
        Buffer<float>::wait();
        if (i < 5) continue;
        prepare.push_back(timer.between(0, 1));
        scan.push_back(timer.between(1, 2));
    }
    const double tokens = (double)rows * count;
    const double moved = tokens * heads * N * 2 * 7 + (double)p.records.n; // read and written by prepare
    std::printf("%5d %5d %6d   prepare %7.4f ms (%4.0f GB/s)   scan %7.4f ms (%5.0f ns a tile)   both %7.4f ms\n", heads, rows, count,
                median(prepare), moved / median(prepare) / 1e6, median(scan), median(scan) * 1e6 / chunk_tiles(count), median(prepare) + median(scan));
}

} // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "check";
    if (what == "check" || what == "quick") return check(what == "quick");
    std::printf("heads  rows tokens\n");
    const int shapes[][3] = {{64, 1, 4096}, {32, 1, 4096}, {12, 1, 4096}, {64, 1, 512}, {12, 1, 512}, {64, 1, 128}, {64, 1, 16},
                             {64, 4, 1024}, {64, 16, 256}, {64, 64, 64}, {32, 16, 256}, {12, 16, 256}};
    for (const auto &s : shapes) times(s[0], s[1], s[2]);
    return 0;
}
