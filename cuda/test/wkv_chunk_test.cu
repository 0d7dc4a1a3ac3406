// wkv_chunk_test.cu: checks the chunked time mix against float64 and times it.
//
//   wkv_chunk_test check   accuracy, rows of all lengths, independence; exit status 1 on a failure
//   wkv_chunk_test quick   accuracy of short rows
//   wkv_chunk_test time    milliseconds a layer of released shapes
#include <algorithm>
#include <cstring>
#include <string>

#include "test/wkv_chunk_reference.h"

namespace {

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

// Runs the rows and compares heads 0, step, 2 step ... with the reference. The error of y is
// shown without that of rounding y to E.
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

// Checks that a row has the same bits alone and among others, and in two runs.
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
