#include "step.h"

#include "mid_product.h"
#include "sampler_select.h"
#include "wkv_chunk_record.h"

#include <chrono>
#include <cmath>
#include <cstring>

namespace {

constexpr float kLeastTemperature = 0.001f, kMostTemperature = 1000;

double now_ms() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// A draw's parameters with those that mean the same made the same, as
// infer/sampler's Params.effective.
void take_sampling(const rk_row &r, RowInput *in) {
    float temperature = r.temperature;
    in->top_p = r.top_p;
    in->top_k = r.top_k;
    in->draw = r.mode == RK_MODE_RAPID ? Draw::Rapid : Draw::Rwkv;
    if (temperature < kLeastTemperature) {
        if (r.mode == RK_MODE_PIP)
            temperature = 1, in->top_p = 0;
        else
            in->draw = Draw::Greedy;
    }
    if (in->draw == Draw::Rapid && in->top_p == 0) in->top_k = 1, in->top_p = 1;
    in->scale = in->draw == Draw::Greedy ? 1.0f : (float)(M_LOG2E / (double)temperature);
    in->presence = r.presence;
    in->frequency = r.frequency;
    in->decay = r.decay;
    in->rapid_penalty = r.mode == RK_MODE_RAPID;
    in->exempt = r.mode == RK_MODE_PIP;
    in->top = r.top;
    in->seed = r.seed;
    in->index = r.draw;
}

// Copies a row's banned tokens, each once and without those that are none;
// returns how many there are.
int take_bans(const int32_t *bans, int n, int limit, int32_t *dst) {
    std::copy_n(bans, n, dst);
    std::sort(dst, dst + n);
    int32_t *end = std::unique(dst, dst + n), *first = std::lower_bound(dst, end, 0);
    end = std::lower_bound(first, end, limit);
    std::copy(first, end, dst);
    return (int)(end - first);
}

template <typename T> void upload_values(T *dst, const T *src, int64_t n, gpuStream stream) {
    if (n > 0) check(gpuMemcpyAsync(dst, src, n * sizeof(T), gpuToDevice, stream), "sending a step to the device");
}

template <typename T> void download_values(T *dst, const T *src, int64_t n, gpuStream stream) {
    if (n > 0) check(gpuMemcpyAsync(dst, src, n * sizeof(T), gpuToHost, stream), "receiving a step's results");
}

} // namespace

struct Steps::Graph {
    gpuGraph graph = nullptr;
    gpuGraphExec exec = nullptr;

    Graph() = default;
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    ~Graph() {
        if (exec) gpuGraphExecDestroy(exec);
        if (graph) gpuGraphDestroy(graph);
    }
};

Steps::Steps(const Model &model, const rk_options &o, Slots &slots, Arena &arena, int64_t *scratch, int64_t *pinned)
    : model_(model), options_(o), slots_(slots), row_room_(Products::padded(o.max_rows)),
      token_room_(Products::padded(std::max(o.max_tokens, (int)row_room_))), products_(model.shape, token_room_, round_up(model.shape.vocab, sampling::kDrawChunk), arena, scratch) {
    const Shape &s = model.shape;
    const int64_t t = token_room_, r = row_room_, c = s.embed, limit = o.token_limit;
    const char *what = "the activations";
    auto elements = [&](int64_t n) -> void * { return arena.device<uint16_t>(n, scratch, what); };
    act_.token_room = t;
    act_.row_room = r;
    act_.x = arena.device<float>(t * c, scratch, what);
    act_.mixed = elements(6 * t * c);
    act_.rkv = elements(3 * t * c);
    act_.low = elements(3 * t * s.rank);
    act_.low_g = elements(t * s.rank_gp);
    act_.up = elements(4 * t * c);
    act_.v_first = elements(t * c);
    act_.y = elements(t * c);
    act_.hidden = elements(t * s.ffn);
    act_.last = elements(r * c);
    act_.next_shift = arena.device<float>(r * c, scratch, what);
    act_.partial = arena.device<float>(mid::kPartialSums, scratch, what);
    act_.arrived = arena.device<int32_t>(mid::kSharedTiles, scratch, what);
    act_.logits_stride = round_up(s.vocab, sampling::kDrawChunk);
    act_.logits = arena.device<float>(r * act_.logits_stride, scratch, what);

    draw_.chunks = (int)ceil_div(s.vocab, sampling::kDrawChunk);
    draw_.best = arena.device<float>(r * draw_.chunks, scratch, what);
    draw_.raw_best = arena.device<float>(r * draw_.chunks, scratch, what);
    draw_.raw_sum = arena.device<float>(r * draw_.chunks, scratch, what);
    draw_.mass = arena.device<uint64_t>(r * draw_.chunks, scratch, what);
    draw_.bucket_mass = arena.device<uint64_t>(r * draw_.chunks * sampling::kBuckets, scratch, what);
    draw_.bucket_count = arena.device<int32_t>(r * draw_.chunks * sampling::kBuckets, scratch, what);
    draw_.raw = arena.device<float>(r * limit, scratch, what);
    draw_.ban_raw = arena.device<float>(RK_BANS_MAX, scratch, what);
    draw_.nan = arena.device<int32_t>(r, scratch, what);
    draw_.exempt = arena.device<uint32_t>(ceil_div(s.vocab, 32), scratch, what);
    draw_.results = arena.device<rk_result>(r, scratch, what);
    draw_.candidates = arena.device<rk_candidate>(r * RK_TOP_MAX, scratch, what);

    input_ = arena.device<RowInput>(r, scratch, what);
    row_slot_ = arena.device<int32_t>(r, scratch, what);
    token_ids_ = arena.device<int32_t>(t, scratch, what);
    row_of_ = arena.device<int32_t>(t, scratch, what);
    output_row_ = arena.device<int32_t>(r, scratch, what);
    bans_ = arena.device<int32_t>(RK_BANS_MAX, scratch, what);
    const int64_t tiles = t / kChunkTokens + r;
    chunk_tiles_ = arena.device<ChunkTile>(tiles, scratch, what);
    chunk_rows_ = arena.device<ChunkRow>(r, scratch, what);
    chunk_records_ = arena.device<uint8_t>(s.head_size == kChunkHead ? tiles * s.heads * chunk_record_bytes() : 0, scratch, what);
    for (int i = 0; i < RK_IN_FLIGHT; i++) {
        auto f = std::make_unique<Flight>();
        f->input = arena.pinned<RowInput>(r, pinned, "the step buffers");
        f->token_ids = arena.pinned<int32_t>(t, pinned, "the step buffers");
        f->row_of = arena.pinned<int32_t>(t, pinned, "the step buffers");
        f->output_row = arena.pinned<int32_t>(r, pinned, "the step buffers");
        f->chunk_tiles = arena.pinned<ChunkTile>(tiles, pinned, "the step buffers");
        f->chunk_rows = arena.pinned<ChunkRow>(r, pinned, "the step buffers");
        f->bans = arena.pinned<int32_t>(RK_BANS_MAX, pinned, "the step buffers");
        f->results = arena.pinned<rk_result>(r, pinned, "the step buffers");
        f->candidates = arena.pinned<rk_candidate>(r * RK_TOP_MAX, pinned, "the step buffers");
        flights_.push_back(std::move(f));
    }
    logits_staging_ = arena.pinned<float>(s.vocab, pinned, "the step buffers");
}

Steps::~Steps() { gpuStreamSynchronize(stream_); }

int Steps::bucket(int rows) const {
    return Products::padded(options_.flags & RK_OPEN_ONE_BUCKET ? options_.max_rows : rows);
}

Pass Steps::pass(int rows, int tokens, bool single, int outputs) const {
    Pass p{};
    p.shape = &model_.shape;
    p.model = &model_;
    p.products = const_cast<Products *>(&products_);
    p.slots = slots_.view();
    p.act = act_;
    p.scratch = draw_;
    p.rows = rows;
    p.tokens = tokens;
    p.single = single;
    p.outputs = outputs;
    p.input = input_;
    p.row_slot = row_slot_;
    p.token_ids = token_ids_;
    p.row_of = row_of_;
    p.output_row = single ? nullptr : output_row_;
    p.bans = bans_;
    p.chunk_tiles = chunk_tiles_;
    p.chunk_rows = chunk_rows_;
    p.chunk_records = chunk_records_;
    p.stream = stream_;
    return p;
}

void Steps::capture() {
    graphs_.clear();
    if (options_.flags & RK_OPEN_EAGER) return;
    int last = 0;
    for (int n = 1; n <= options_.max_rows; n++)
        if (int b = bucket(n); b != last) graph(last = b);
}

const Steps::Graph &Steps::graph(int bucket) {
    auto &made = graphs_[bucket];
    if (made) return *made;
    const Pass p = pass(bucket, bucket, true, bucket);
    auto g = std::make_unique<Graph>();
    products_.prepare(bucket, bucket); // what it asks of the library must not be captured
    ::check(gpuStreamBeginCapture(stream_), "capturing a step");
    try {
        run(p);
    } catch (...) {
        gpuStreamEndCapture(stream_, &g->graph);
        throw;
    }
    ::check(gpuStreamEndCapture(stream_, &g->graph), "capturing a step");
    ::check(gpuGraphInstantiate(&g->exec, g->graph), "making a step's graph");
    made = std::move(g);
    return *made;
}

void Steps::tune(double seconds) {
    std::vector<int> sizes;
    for (int n = 1; n <= options_.max_rows; n++)
        if (int b = bucket(n); sizes.empty() || b != sizes.back()) sizes.push_back(b);
    for (int n : {256, 512, 1024, 2048, options_.max_tokens})
        if (int b = Products::padded(n); b <= token_room_ && b > sizes.back()) sizes.push_back(b);
    std::map<Product, Products::Operand> operands;
    auto add = [&](Product product, auto weights, const void *x, void *y, int64_t room) {
        std::vector<const void *> all;
        for (const Layer &l : model_.layers) all.push_back(l.*weights);
        operands[product] = {all, x, y, room};
    };
    add(Product::Rkv, &Layer::rkv, act_.mixed, act_.rkv, token_room_);
    add(Product::Down, &Layer::down, act_.mixed, act_.low, token_room_);
    add(Product::DownG, &Layer::down_g, act_.mixed, act_.low_g, token_room_);
    add(Product::Up, &Layer::up, act_.low, act_.up, token_room_);
    add(Product::UpG, &Layer::up_g, act_.low_g, act_.up, token_room_);
    add(Product::Output, &Layer::output, act_.y, act_.x, token_room_);
    add(Product::Key, &Layer::key, act_.mixed, act_.hidden, token_room_);
    add(Product::Value, &Layer::value, act_.hidden, act_.x, token_room_);
    operands[Product::Head] = {{model_.head}, act_.last, act_.logits, row_room_};
    stream_.wait();
    products_.tune(sizes, operands, seconds, stream_);
    capture();
}

void Steps::check(const Rows &a) const {
    if (a.n_rows < 1 || a.n_rows > options_.max_rows)
        fail(RK_ERR_ARGUMENT, "%d rows in a step: this engine was opened for 1 to %d", a.n_rows, options_.max_rows);
    if (submitted_ - waited_ >= RK_IN_FLIGHT) fail(RK_ERR_ARGUMENT, "%d steps are in flight already: wait for one first", RK_IN_FLIGHT);
    std::vector<char> taken(options_.slots);
    int64_t tokens = 0, bans = 0;
    for (int i = 0; i < a.n_rows; i++) {
        check_row(a, i);
        const rk_row &r = a.rows[i];
        if (taken[r.slot]) fail(RK_ERR_ARGUMENT, "row %d: slot %d is in this step already", i, r.slot);
        taken[r.slot] = 1;
        tokens += r.token_count;
        if (r.flags & RK_ROW_DRAW) bans += r.ban_count;
    }
    if (bans > RK_BANS_MAX) fail(RK_ERR_ARGUMENT, "%lld banned tokens in a step: at most %d", (long long)bans, RK_BANS_MAX);
    if (tokens > options_.max_tokens)
        fail(RK_ERR_ARGUMENT, "%lld tokens in a step: this engine was opened for %d", (long long)tokens, options_.max_tokens);
}

void Steps::check_row(const Rows &a, int i) const {
    const rk_row &r = a.rows[i];
    if (r.slot < 0 || r.slot >= options_.slots)
        fail(RK_ERR_ARGUMENT, "row %d: slot %d; the pool has slots 0 to %d", i, r.slot, options_.slots - 1);
    if (r.token_count < 1 || r.token_offset < 0 || r.token_offset > a.n_tokens - r.token_count)
        fail(RK_ERR_ARGUMENT, "row %d: tokens %d to %d of %d", i, r.token_offset, r.token_offset + r.token_count, a.n_tokens);
    for (int t = 0; t < r.token_count; t++) {
        const int id = a.tokens[r.token_offset + t];
        if ((id < 0 || id >= model_.shape.vocab) && !(id == RK_FED_BACK && r.token_count == 1))
            fail(RK_ERR_ARGUMENT, "row %d: token %d; the model has tokens 0 to %d", i, id, model_.shape.vocab - 1);
    }
    if (!(r.flags & RK_ROW_DRAW)) {
        if (r.top != 0) fail(RK_ERR_ARGUMENT, "row %d: candidates without a draw", i);
        return;
    }
    const char *wrong = nullptr;
    if (r.top < 0 || r.top > RK_TOP_MAX) wrong = "top";
    if (r.ban_count < 0 || r.ban_offset < 0 || r.ban_offset > a.n_bans - r.ban_count) wrong = "bans";
    if (r.mode < RK_MODE_RWKV || r.mode > RK_MODE_RAPID) wrong = "mode";
    if (!(r.temperature >= 0 && r.temperature <= kMostTemperature)) wrong = "temperature";
    if (r.top_k < 0) wrong = "top_k";
    if (!(r.top_p >= 0 && r.top_p <= 1)) wrong = "top_p";
    if (!std::isfinite(r.presence)) wrong = "presence";
    if (!std::isfinite(r.frequency)) wrong = "frequency";
    if (!(r.decay >= 0 && r.decay <= 1)) wrong = "decay";
    if (wrong) fail(RK_ERR_ARGUMENT, "row %d: its %s is out of range", i, wrong);
}

// Rows of at least a whole tile go by chunks, where there are kernels for it.
void Steps::add_chunks(int row, Flight &f) const {
    RowInput &in = f.input[row];
    if (in.count < kChunkTokens || model_.shape.head_size != kChunkHead) return;
    in.chunked = 1;
    f.chunk_rows[f.chunk_row_count++] = {row, in.first, in.count, f.chunk_tile_count};
    for (int at = 0; at < in.count; at += kChunkTokens)
        f.chunk_tiles[f.chunk_tile_count++] = {in.first + at, std::min(kChunkTokens, in.count - at)};
}

void Steps::fill_rows(const Rows &a, Flight &f, bool single) {
    f.output_of.assign(a.n_rows, -1);
    f.tops = f.bans_used = f.chunk_tile_count = f.chunk_row_count = 0;
    int outputs = 0, first = 0;
    for (int i = 0; i < a.n_rows; i++) {
        const rk_row &r = a.rows[i];
        RowInput in{};
        in.slot = r.slot;
        in.first = first;
        in.count = r.token_count;
        in.token = a.tokens[r.token_offset];
        in.flags = r.flags;
        in.draw = Draw::None;
        in.top_offset = f.tops;
        if (r.flags & RK_ROW_DRAW) {
            take_sampling(r, &in);
            in.ban_offset = f.bans_used;
            in.ban_count = take_bans(a.bans + r.ban_offset, r.ban_count, options_.token_limit, f.bans + f.bans_used);
            f.bans_used += in.ban_count;
        }
        f.tops += in.top;
        f.input[i] = in;
        add_chunks(i, f);
        if (!single)
            for (int t = 0; t < r.token_count; t++) {
                f.token_ids[first + t] = a.tokens[r.token_offset + t];
                f.row_of[first + t] = i;
            }
        first += r.token_count;
        if (!(r.flags & (RK_ROW_DRAW | RK_ROW_LOGITS))) continue;
        f.output_of[i] = single ? i : outputs;
        f.output_row[outputs++] = i;
    }
    f.tokens = first;
    f.bucket = single ? bucket(a.n_rows) : 0;
    RowInput none{};
    none.slot = options_.slots;
    none.count = 1;
    for (int i = a.n_rows; i < f.bucket; i++) f.input[i] = none;
}

void Steps::upload(const Flight &f, const Pass &p) {
    upload_values(input_, f.input, p.rows, stream_);
    upload_values(bans_, f.bans, f.bans_used, stream_);
    if (p.single) return;
    upload_values(token_ids_, f.token_ids, p.tokens, stream_);
    upload_values(row_of_, f.row_of, p.tokens, stream_);
    upload_values(output_row_, f.output_row, p.outputs, stream_);
    upload_values(chunk_tiles_, f.chunk_tiles, f.chunk_tile_count, stream_);
    upload_values(chunk_rows_, f.chunk_rows, f.chunk_row_count, stream_);
}

void Steps::submit(const Rows &a) {
    const double began = now_ms();
    check(a);
    bool single = true;
    std::vector<int> used;
    for (int i = 0; i < a.n_rows; i++) {
        single &= a.rows[i].token_count == 1;
        used.push_back(a.rows[i].slot);
    }
    Flight &f = *flights_[submitted_ % RK_IN_FLIGHT];
    fill_rows(a, f, single);
    const int outputs = (int)(f.output_of.size() - std::count(f.output_of.begin(), f.output_of.end(), -1));
    Pass p = single ? pass(f.bucket, f.bucket, true, f.bucket) : pass(a.n_rows, f.tokens, false, outputs);
    p.chunk_tile_count = f.chunk_tile_count;
    p.chunk_row_count = f.chunk_row_count;
    slots_.before_step(used, stream_);
    upload(f, p);
    f.begin.record(stream_);
    if (single && !(options_.flags & RK_OPEN_EAGER)) {
        ::check(gpuGraphLaunch(graph(f.bucket).exec, stream_), "launching a step");
        timing_.graphs++;
    } else {
        run(p);
    }
    f.end.record(stream_);
    download_values(f.results, draw_.results, p.outputs, stream_);
    download_values(f.candidates, draw_.candidates, f.tops, stream_);
    f.done.record(stream_);
    slots_.after_step(used, &f.done);
    submitted_++;
    timing_.steps++;
    f.submitted = now_ms() - began;
}

void Steps::wait(rk_result *results, rk_candidate *candidates) {
    if (waited_ == submitted_) fail(RK_ERR_ARGUMENT, "no step is in flight");
    const double began = now_ms();
    Flight &f = *flights_[waited_++ % RK_IN_FLIGHT];
    f.done.wait();
    const int rows = (int)f.output_of.size();
    for (int i = 0; i < rows; i++) results[i] = f.output_of[i] >= 0 ? f.results[f.output_of[i]] : rk_result{};
    if (f.tops > 0) memcpy(candidates, f.candidates, f.tops * sizeof(rk_candidate));
    float ms = 0;
    ::check(gpuEventElapsed(&ms, f.begin, f.end), "timing a step");
    timing_.device = ms;
    timing_.submit = f.submitted;
    timing_.wait = now_ms() - began;
    timing_.rows = rows;
    timing_.tokens = f.tokens;
    timing_.bucket = f.bucket;
}

void Steps::read_logits(int row, float *dst) {
    if (submitted_ == 0) fail(RK_ERR_ARGUMENT, "no step was made yet");
    const Flight &f = *flights_[(submitted_ - 1) % RK_IN_FLIGHT];
    if (row < 0 || row >= (int)f.output_of.size() || f.output_of[row] < 0)
        fail(RK_ERR_ARGUMENT, "row %d of the last step has no logits", row);
    const int64_t v = model_.shape.vocab;
    download_values(logits_staging_, act_.logits + f.output_of[row] * act_.logits_stride, v, stream_);
    stream_.wait();
    memcpy(dst, logits_staging_, v * sizeof(float));
}

void Steps::set_exempt(const int32_t *tokens, int n) {
    std::vector<uint32_t> bits(ceil_div(model_.shape.vocab, 32));
    for (int i = 0; i < n; i++) {
        if (tokens[i] < 0 || tokens[i] >= model_.shape.vocab)
            fail(RK_ERR_ARGUMENT, "token %d: the model has tokens 0 to %d", tokens[i], model_.shape.vocab - 1);
        bits[tokens[i] / 32] |= 1u << tokens[i] % 32;
    }
    upload_values(draw_.exempt, bits.data(), (int64_t)bits.size(), stream_);
    stream_.wait();
}
