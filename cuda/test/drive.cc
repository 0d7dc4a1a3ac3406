// drive.cc: runs an engine through every kernel family, with models so small that the tools
// of compute-sanitizer finish soon. It prints a checksum of all results, which is the same
// in every run. See sanitize.sh.
//
//   drive [-v] [-m N] [-f FLAGS] [part...]
//
// parts: single, mixed, draws, mixes, adapters, slots, many; all if none is given. -v prints
// the checksum of every step, so that the first difference can be found. -m runs one model
// alone, from 1 on; -f opens all engines with these RK_OPEN_* flags, too.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "rookery.h"

namespace {

void check(int32_t status, const char *what) {
    if (status == RK_OK) return;
    char text[512];
    rk_last_error(text, sizeof text);
    fprintf(stderr, "%s: %s (status %d)\n", what, text, status);
    exit(1);
}

uint64_t sum = 1469598103934665603u; // of all results

bool verbose = false;

template <typename T> void add(const std::vector<T> &v, const char *what) {
    const auto *p = reinterpret_cast<const uint8_t *>(v.data());
    uint64_t own = 1469598103934665603u;
    for (size_t i = 0; i < v.size() * sizeof(T); i++) own = (own ^ p[i]) * 1099511628211u;
    sum = (sum ^ own) * 1099511628211u;
    if (verbose) printf("  %-12s %016llx\n", what, (unsigned long long)own);
}

struct Row {
    int slot, count; // of tokens
    uint32_t flags = RK_ROW_LOGITS;
    int top = 0;
    int kind = 0; // of draw
    int members = 0;
    float weight = 0;
    int adapter = 0;
};

class Engine {
  public:
    Engine(const rk_shape &shape, const rk_options &options) : shape_(shape), options_(options), random_(7) {
        check(rk_open(&shape, &options, &e_), "rk_open");
        load();
        check(rk_ready(e_), "rk_ready");
    }

    Engine(const Engine &) = delete;
    ~Engine() { check(rk_close(e_), "rk_close"); }

    // Runs one step of these rows with random tokens.
    void step(const std::vector<Row> &rows) {
        if (verbose) printf(" %d rows, the first of %d tokens, flags %x\n", (int)rows.size(), rows[0].count, rows[0].flags);
        std::vector<rk_row> table;
        std::vector<int32_t> tokens, bans;
        int tops = 0;
        for (const Row &r : rows) {
            table.push_back(make(r, tokens, bans));
            tops += r.top;
            for (int i = 0; i < r.count; i++) tokens.push_back(1 + (int)(random_() % (shape_.vocab - 1)));
        }
        std::vector<rk_result> results(rows.size());
        std::vector<rk_candidate> candidates(tops);
        check(rk_step(e_, table.data(), (int)rows.size(), tokens.data(), (int)tokens.size(), bans.data(), (int)bans.size(), results.data(), candidates.data()), "rk_step");
        add(results, "results");
        for (size_t i = 0, at = 0; i < rows.size(); at += rows[i++].top)
            add(std::vector<rk_candidate>(candidates.begin() + at, candidates.begin() + at + results[i].candidates), "candidates");
        std::vector<float> logits(shape_.vocab);
        for (int i : {0, (int)rows.size() - 1}) {
            if (!(rows[i].flags & (RK_ROW_LOGITS | RK_ROW_DRAW))) continue;
            check(rk_read_logits(e_, i, logits.data()), "rk_read_logits");
            for (float v : logits)
                if (!std::isfinite(v)) fprintf(stderr, "a logit is %f\n", v), exit(1);
            add(logits, "logits");
        }
    }

    std::vector<float> read(int slot) {
        std::vector<float> state((size_t)shape_.layers * shape_.embed * (2 + (shape_.version == RK_V4 ? 3 : shape_.head_size)));
        check(rk_read_slot(e_, slot, state.data()), "rk_read_slot");
        add(state, "state");
        return state;
    }

    // Makes an adapter of every product: plain, with gains, or with blocks of size `rank`.
    int adapter(int rank, bool gains, bool blocks) {
        int32_t id = 0;
        check(rk_new_adapter(e_, &id), "rk_new_adapter");
        for (int target = RK_RECEPTANCE; target <= RK_HEAD; target++)
            for (int layer = 0; layer < (target == RK_HEAD ? 1 : shape_.layers); layer++) {
                const int c = shape_.embed, in = target == RK_FFN_VALUE ? shape_.ffn : c;
                const int out = target == RK_FFN_KEY ? shape_.ffn : target == RK_HEAD ? shape_.vocab : c;
                if ((target == RK_GATE && shape_.version != RK_V6 && shape_.version != RK_V52) || (target == RK_FFN_RECEPTANCE && shape_.version == RK_V7)) continue;
                const auto down = values(rank * in, std::sqrt(3.0f / in)), up = values(out * rank, .2f), gain = values(in, 1), block = values(in * rank, .05f);
                check(rk_set_delta(e_, id, layer, target, rank, down.data(), up.data(), gains ? gain.data() : nullptr, blocks ? block.data() : nullptr, rank), "rk_set_delta");
            }
        return id;
    }

    void drop(int id) { check(rk_drop_adapter(e_, id), "rk_drop_adapter"); }

    void slots() {
        const std::vector<float> state = read(0);
        check(rk_write_slot(e_, 1, state.data()), "rk_write_slot");
        check(rk_copy_slot(e_, 2, 1), "rk_copy_slot");
        check(rk_zero_slot(e_, 0), "rk_zero_slot");
        step({{0, 1}, {2, 1}});
        for (int s = 0; s < 3; s++) read(s);
        std::vector<rk_count> counts = {{3, 2, 1}, {9, 1, 1}, {5, .5f, .5f}}, got(shape_.vocab);
        check(rk_set_counts(e_, 1, counts.data(), (int)counts.size()), "rk_set_counts");
        step({{1, 1, RK_ROW_DRAW | RK_ROW_OBSERVE, 4, 5}});
        int32_t n = 0;
        check(rk_get_counts(e_, 1, got.data(), (int)got.size(), &n), "rk_get_counts");
        got.resize(n);
        add(got, "counts");
        const std::vector<int32_t> exempt = {3, 5, 17};
        check(rk_set_exempt(e_, exempt.data(), (int)exempt.size()), "rk_set_exempt");
        step({{1, 1, RK_ROW_DRAW | RK_ROW_OBSERVE}, {2, 1, RK_ROW_DRAW}});
    }

  private:
    rk_row make(const Row &r, const std::vector<int32_t> &tokens, std::vector<int32_t> &bans) {
        rk_row out{};
        out.slot = r.slot;
        out.token_offset = (int)tokens.size();
        out.token_count = r.count;
        out.flags = r.flags;
        out.members = r.members;
        out.weight = r.weight;
        out.adapter = r.adapter;
        if (!(r.flags & RK_ROW_DRAW)) return out;
        const int k = r.kind;
        out.top = r.top;
        out.mode = k % 3;
        out.temperature = k % 4 == 3 ? 0 : 1.0f + 0.3f * (k % 5);
        out.top_k = k % 2 ? 1 + 13 * (k % 7) : 0;
        out.top_p = k % 4 ? 0.4f + 0.1f * (k % 6) : 1;
        out.presence = k % 5 ? 0.3f : 0;
        out.frequency = k % 5 > 2 ? 0.2f : 0;
        out.decay = 0.99f;
        out.seed = 11 + k;
        out.draw = k;
        out.ban_offset = (int)bans.size();
        out.ban_count = k % 4;
        for (int i = 0; i < out.ban_count; i++) bans.push_back(i * 31);
        return out;
    }

    std::vector<float> values(int64_t n, float most) {
        std::vector<float> values(n);
        for (float &v : values) v = most * (2 * (float)(random_() >> 8) / (1 << 24) - 1);
        return values;
    }

    void tensor(const std::string &name, std::vector<int64_t> dims, float low, float high) {
        int64_t n = 1;
        for (int64_t d : dims) n *= d;
        std::vector<float> values(n);
        for (float &v : values) v = low + (high - low) * (float)(random_() >> 8) / (1 << 24);
        check(rk_load(e_, name.c_str(), RK_F32, dims.data(), (int)dims.size(), values.data(), n * 4), name.c_str());
    }

    // A matrix of n inputs, whose outputs are of the order of gain.
    void matrix(const std::string &name, int64_t rows, int64_t columns, int64_t n, float gain = 1) {
        const float w = gain * std::sqrt(3.0f / n);
        tensor(name, {rows, columns}, -w, w);
    }

    void load() {
        const rk_shape &s = shape_;
        const int64_t c = s.embed, f = s.ffn, v = s.vocab;
        matrix("emb.weight", v, c, 3);
        matrix("head.weight", v, c, c, 3);
        for (int i = 0; i < s.layers; i++) layer("blocks." + std::to_string(i) + ".", i, c, f);
        for (const char *n : {"blocks.0.ln0", "ln_out"}) norm(n, c);
    }

    void norm(const std::string &name, int64_t c) {
        tensor(name + ".weight", {c}, .8f, 1.2f);
        tensor(name + ".bias", {c}, -.1f, .1f);
    }

    void layer(const std::string &b, int i, int64_t c, int64_t f) {
        const std::string a = b + "att.";
        norm(b + "ln1", c);
        norm(b + "ln2", c);
        if (shape_.version != RK_V4) norm(a + "ln_x", c);
        matrix(b + "ffn.key.weight", f, c, c, .5f);
        matrix(b + "ffn.value.weight", c, f, f, .5f);
        for (const char *m : {"receptance", "key", "value", "output"}) matrix(a + m + ".weight", c, c, c, .5f);
        if (shape_.version == RK_V7) return layer_v7(b, a, i, c);
        matrix(b + "ffn.receptance.weight", c, c, c);
        if (shape_.version == RK_V6)
            layer_v6(b, a, c);
        else
            layer_older(b, a, c);
    }

    void layer_older(const std::string &b, const std::string &a, int64_t c) {
        const bool gate = shape_.version == RK_V52 || shape_.version == RK_V51;
        for (char x : std::string(gate ? "kvrg" : "kvr")) tensor(a + "time_mix_" + x, {1, 1, c}, .4f, 1);
        for (char x : std::string("kr")) tensor(b + "ffn.time_mix_" + x, {1, 1, c}, .7f, 1);
        const bool channels = shape_.version == RK_V52 || shape_.version == RK_V4;
        const int64_t n = channels ? c : shape_.heads;
        tensor(a + "time_decay", {n}, -6, 2);
        tensor(a + (shape_.version == RK_V52 ? "time_faaaa" : "time_first"), {n}, -.3f, .3f);
        if (gate) matrix(a + "gate.weight", c, c, c);
    }

    void layer_v6(const std::string &b, const std::string &a, int64_t c) {
        const int64_t mix = shape_.ranks[0], decay = shape_.ranks[1];
        for (char x : std::string("xwkvrg")) tensor(a + "time_maa_" + x, {1, 1, c}, 0, .6f);
        matrix(a + "time_maa_w1", c, 5 * mix, c, .5f);
        tensor(a + "time_maa_w2", {5, mix, c}, -.05f, .05f);
        tensor(a + "time_decay", {1, 1, c}, -6, 2);
        matrix(a + "time_decay_w1", c, decay, c, .5f);
        matrix(a + "time_decay_w2", decay, c, decay, .5f);
        tensor(a + "time_faaaa", {shape_.heads, shape_.head_size}, -.3f, .3f);
        matrix(a + "gate.weight", c, c, c);
        for (char x : std::string("kr")) tensor(b + "ffn.time_maa_" + x, {1, 1, c}, 0, .3f);
    }

    void layer_v7(const std::string &b, const std::string &a, int i, int64_t c) {
        for (char x : std::string("rwkvag")) tensor(a + "x_" + x, {1, 1, c}, 0, .6f);
        tensor(a + "w0", {1, 1, c}, -6, 1);
        tensor(a + "a0", {1, 1, c}, -.5f, .5f);
        const struct {
            char x;
            int64_t rank;
        } low[] = {{'w', shape_.ranks[0]}, {'a', shape_.ranks[1]}, {'g', shape_.ranks[3]}, {'v', shape_.ranks[2]}};
        for (auto l : low) {
            if (l.x == 'v' && i == 0) continue;
            matrix(a + l.x + "1", c, l.rank, c, .5f);
            matrix(a + l.x + "2", l.rank, c, l.rank, .5f);
        }
        if (i > 0) tensor(a + "v0", {1, 1, c}, .2f, .8f);
        tensor(a + "k_k", {1, 1, c}, .7f, 1);
        tensor(a + "k_a", {1, 1, c}, .8f, 1.1f);
        tensor(a + "r_k", {shape_.heads, shape_.head_size}, -.1f, .1f);
        tensor(b + "ffn.x_k", {1, 1, c}, 0, .3f);
    }

    const rk_shape shape_;
    const rk_options options_;
    std::mt19937 random_;
    rk_engine *e_ = nullptr;
};

std::vector<Row> singles(int n, int first = 0) {
    std::vector<Row> rows;
    for (int i = 0; i < n; i++) rows.push_back({first + i, 1});
    return rows;
}

// Rows of one token: the stages for few, for some dozens and for many.
void single(Engine &e) {
    for (int n : {1, 2, 5, 8, 9, 16, 31, 64, 65, 70}) {
        e.step(singles(n));
        e.read(n - 1);
    }
}

// Rows of all lengths: token by token, by chunks, in segments (some 600 tokens
// and few heads), and beside rows of one token.
void mixed(Engine &e) {
    e.step({{0, 2}, {1, 15}, {2, 1}});
    e.step({{3, 16}, {4, 17}, {0, 1}, {1, 33}});
    e.step({{5, 1100}});
    e.step({{6, 530}, {7, 200}, {3, 1}, {8, 64, 0}, {9, 3}});
    for (int s : {0, 1, 3, 5, 6, 7, 8, 9}) e.read(s);
}

// Draws of all kinds, with candidates and without; the second round has counts. Of many
// rows some draw, among them the last: a team of blocks does one more than the others.
void draws(Engine &e) {
    for (int n : {1, 7, 66}) {
        for (int round = 0; round < 2; round++) {
            std::vector<Row> rows = singles(n);
            for (int i = 0; i < n; i++)
                if (i < 20 || i >= 54) rows[i] = {i, 1, RK_ROW_DRAW | RK_ROW_OBSERVE, i % 5 > 1 ? 0 : i % 3 ? i % 9 : 256 / n, i + round};
            e.step(rows);
        }
    }
    e.step({{0, 40, RK_ROW_DRAW, 3, 1}, {1, 1, RK_ROW_DRAW | RK_ROW_OBSERVE, 0, 4}, {2, 3, 0}});
}

// Mixes of two, three and nine rows in steps with strangers, in graphs and in prompts; the
// second round has counts.
void mixes(Engine &e) {
    for (int round = 0; round < 2; round++) {
        std::vector<Row> rows;
        for (int i = 0; i < 18; i++) rows.push_back({i, 1, i % 5 ? RK_ROW_LOGITS : RK_ROW_DRAW, 0, i});
        rows[0] = {0, 1, RK_ROW_DRAW | RK_ROW_OBSERVE, 3, 1, 1, .75f};
        rows[1] = {1, 1, RK_ROW_LOGITS, 0, 0, 0, .25f};
        rows[3] = {3, 1, RK_ROW_DRAW, 0, 3, 2, 1.5f};
        rows[4] = {4, 1, RK_ROW_LOGITS, 0, 0, 0, -.5f};
        rows[5] = {5, 1, RK_ROW_LOGITS, 0, 0, 0, 0};
        rows[9] = {9, 1, RK_ROW_DRAW | RK_ROW_OBSERVE, 5, 4, 8, .2f};
        for (int i = 10; i < 18; i++) rows[i] = {i, 1, RK_ROW_LOGITS, 0, 0, 0, .1f};
        e.step(rows);
        e.step({rows[0], rows[1]});
    }
    e.step({{4, 1}, {0, 20, RK_ROW_DRAW, 2, 2, 1, .6f}, {1, 20, RK_ROW_LOGITS, 0, 0, 0, .4f}, {2, 3, 0}});
    e.read(1);
}

// Rows with adapters of all kinds and with none: few, some dozens, many, and in
// prompts; one goes, and another takes its place.
void adapters(Engine &e) {
    int ids[] = {0, e.adapter(3, false, false), e.adapter(16, false, false), e.adapter(5, true, false), e.adapter(8, false, true)};
    for (int kinds : {3, 5}) {
        for (int n : {1, 5, 24, 70}) {
            std::vector<Row> rows = singles(n);
            for (int i = 0; i < n; i++) rows[i].adapter = ids[(i + 1) % kinds];
            e.step(rows);
            e.read(n - 1);
        }
        e.step({{0, 20, RK_ROW_LOGITS, 0, 0, 0, 0, ids[1]}, {1, 1}, {2, 45, RK_ROW_LOGITS, 0, 0, 0, 0, ids[kinds - 1]}, {3, 3, 0, 0, 0, 0, 0, ids[2]}});
        e.drop(ids[1]);
        ids[1] = e.adapter(4, false, false);
    }
    for (int id : ids)
        if (id) e.drop(id);
}

} // namespace

int main(int argc, char **argv) {
    std::vector<std::string> parts;
    int only = 0;
    uint32_t more_flags = 0;
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        if (arg == "-v")
            verbose = true;
        else if (arg == "-m" && i + 1 < argc)
            only = atoi(argv[++i]);
        else if (arg == "-f" && i + 1 < argc)
            more_flags = (uint32_t)atoi(argv[++i]);
        else
            parts.push_back(arg);
    }
    auto wanted = [&](const char *part) { return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end(); };
    const struct {
        const char *name;
        rk_shape shape;
        int32_t weights, state;
        uint32_t flags;
    } models[] = {
        {"fp16, fp32 states", {RK_V7, 2, 256, 4, 64, 1024, 512, {32, 32, 32, 64}}, RK_F16, RK_F32, 0},
        {"bf16, fp16 states", {RK_V7, 2, 256, 4, 64, 1024, 512, {32, 32, 32, 64}}, RK_BF16, RK_F16, 0},
        {"odd sizes, launched singly", {RK_V7, 2, 320, 5, 64, 1064, 301, {8, 24, 8, 40}}, RK_F16, RK_F16, RK_OPEN_EAGER},
        {"heads of 16", {RK_V7, 2, 64, 4, 16, 256, 200, {8, 8, 8, 16}}, RK_F16, RK_F32, RK_OPEN_EAGER},
        {"v6, fp16, fp32 states", {RK_V6, 2, 256, 4, 64, 896, 512, {32, 64, 0, 0}}, RK_F16, RK_F32, 0},
        {"v6, bf16, fp16 states", {RK_V6, 2, 256, 4, 64, 896, 512, {64, 32, 0, 0}}, RK_BF16, RK_F16, 0},
        {"v6, odd sizes, launched singly", {RK_V6, 2, 320, 5, 64, 1064, 301, {24, 40, 0, 0}}, RK_F16, RK_F16, RK_OPEN_EAGER},
        {"v5.2, fp16 states", {RK_V52, 2, 256, 4, 64, 896, 512, {}}, RK_F16, RK_F16, 0},
        {"v5.0, bf16", {RK_V50, 2, 256, 4, 64, 896, 200, {}}, RK_BF16, RK_F32, RK_OPEN_EAGER},
        {"v4", {RK_V4, 2, 256, 256, 1, 896, 301, {}}, RK_F16, RK_F32, 0},
        {"v6, heads of 128", {RK_V6, 2, 256, 2, 128, 256, 200, {8, 8, 0, 0}}, RK_F16, RK_F32, RK_OPEN_EAGER},
    };
    const rk_shape wides[] = {{RK_V7, 1, 512, 8, 64, 512, 128, {32, 32, 32, 64}}, {RK_V6, 1, 512, 8, 64, 448, 128, {32, 64, 0, 0}}};
    for (int i = 0; i < 4; i++) { // heads times rows fill a card
        if (!wanted("many")) break;
        const rk_shape &wide = wides[i / 2];
        const int32_t state = i % 2 ? RK_F16 : RK_F32;
        Engine e(wide, {0, state == RK_F32 ? RK_F16 : RK_BF16, state, 272, 272, 272, wide.vocab, RK_OPEN_EAGER | more_flags, nullptr});
        for (int n : {97, 200, 257, 272}) e.step(singles(n));
        e.read(271);
        printf("%-28s %016llx\n", "many rows", (unsigned long long)sum);
    }
    for (const auto &m : models) {
        if (only > 0 && &m != &models[only - 1]) continue;
        if (parts.size() == 1 && parts[0] == "many") break;
        Engine e(m.shape, {0, m.weights, m.state, 72, 72, 1200, m.shape.vocab - 3, m.flags | more_flags, nullptr});
        if (wanted("single")) single(e);
        if (wanted("mixed")) mixed(e);
        if (wanted("draws")) draws(e);
        if (wanted("mixes")) mixes(e);
        if (wanted("adapters")) adapters(e);
        if (wanted("slots")) e.slots();
        printf("%-28s %016llx\n", m.name, (unsigned long long)sum);
        fflush(stdout);
    }
}
