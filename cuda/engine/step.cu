// step.cu: buffers, graphs, launching a step and waiting for it.
#include "engine/step.h"

#include "engine/version.h"
#include "layer/wgmma.h"
#include "layer/wkv_chunk_record.h"
#include "sampler/sampler.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>

namespace {

double now_ms() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

constexpr int kLooks = 4096; // at the flag, for each query of the device

void rest_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
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
      token_room_(Products::padded(std::max(o.max_tokens, (int)row_room_))), products_(model.shape, product_specs(model.shape, token_room_), round_up(model.shape.vocab, sampling::kDrawChunk), arena, scratch),
      adapters_(model.shape, arena, scratch) {
    const Shape &s = model.shape;
    const Parts parts = s.version->parts;
    const int64_t t = token_room_, r = row_room_, c = s.embed;
    const char *what = "the activations";
    auto elements = [&](int64_t n) -> void * { return arena.device<uint16_t>(n, scratch, what); };
    act_.token_room = t;
    act_.row_room = r;
    act_.x = arena.device<float>(t * c, scratch, what);
    act_.mixed = elements(parts.mixed * t * c);
    act_.rkv = elements(parts.rkv * t * c);
    act_.low = elements(parts.low * t * s.rank);
    act_.low_wide = elements(t * s.rank_wide);
    act_.up = elements(parts.up * t * c);
    if (parts.v_first) act_.v_first = elements(t * c);
    act_.y = elements(t * c);
    act_.hidden = elements(t * s.ffn);
    act_.last = elements(r * c);
    act_.next_shift = arena.device<float>(r * c, scratch, what);
    act_.norms = arena.device<TokenNorm>(parts.mixes ? t : 0, scratch, what);
    act_.partial = arena.device<float>(wgmma::kPartialSums, scratch, what);
    act_.arrived = arena.device<int32_t>(wgmma::kSharedTiles, scratch, what);
    act_.logits_stride = round_up(s.vocab, sampling::kDrawChunk);
    act_.logits = arena.device<float>(r * act_.logits_stride, scratch, what);

    if ((o.flags & RK_OPEN_PORTABLE) || !sampling::holds_rows(s.vocab)) draw_.z = arena.device<float>(r * act_.logits_stride, scratch, what);
    draw_.exempt = arena.device<uint32_t>(ceil_div(s.vocab, 32), scratch, what);
    draw_.mixed = arena.device<float>(std::max<int64_t>(r / 2, 1) * act_.logits_stride, scratch, what);
    draw_.parts = arena.device<float2>(r * (act_.logits_stride / sampling::kDrawChunk), scratch, what);
    draw_.arrived = arena.device<uint32_t>(1, scratch, what);
    draw_.left = arena.device<int32_t>(1 + r, scratch, what);

    input_ = arena.device<RowInput>(r, scratch, what);
    row_slot_ = arena.device<int32_t>(r, scratch, what);
    token_ids_ = arena.device<int32_t>(t, scratch, what);
    row_of_ = arena.device<int32_t>(t, scratch, what);
    output_row_ = arena.device<int32_t>(r, scratch, what);
    bans_ = arena.device<int32_t>(RK_BANS_MAX, scratch, what);
    const int64_t tiles = t / kChunkTokens + r;
    chunk_tiles_ = arena.device<ChunkTile>(tiles, scratch, what);
    chunk_rows_ = arena.device<ChunkRow>(r, scratch, what);
    adapter_tiles_ = arena.device<AdapterTile>(t / kAdapterTokens + r, scratch, what);
    chunk_records_ = arena.device<uint8_t>(s.head_size == kChunkHead ? tiles * s.heads * chunk_record_bytes() : 0, scratch, what);
    buffers_.input = arena.pinned<RowInput>(r, pinned, "the step buffers");
    buffers_.token_ids = arena.pinned<int32_t>(t, pinned, "the step buffers");
    buffers_.row_of = arena.pinned<int32_t>(t, pinned, "the step buffers");
    buffers_.output_row = arena.pinned<int32_t>(r, pinned, "the step buffers");
    buffers_.chunk_tiles = arena.pinned<ChunkTile>(tiles, pinned, "the step buffers");
    buffers_.chunk_rows = arena.pinned<ChunkRow>(r, pinned, "the step buffers");
    buffers_.adapter_tiles = arena.pinned<AdapterTile>(t / kAdapterTokens + r, pinned, "the step buffers");
    buffers_.bans = arena.pinned<int32_t>(RK_BANS_MAX, pinned, "the step buffers");
    buffers_.results = arena.pinned<rk_result>(r, pinned, "the step buffers");
    buffers_.candidates = arena.pinned<rk_candidate>(r * RK_TOP_MAX, pinned, "the step buffers");
    buffers_.finished = arena.pinned<uint32_t>(1, pinned, "the step buffers");
    logits_staging_ = arena.pinned<float>(s.vocab, pinned, "the step buffers");
}

Steps::~Steps() { gpuStreamSynchronize(stream_); }

int Steps::bucket(int rows) const {
    return Products::padded(options_.flags & RK_OPEN_ONE_BUCKET ? options_.max_rows : rows);
}

Pass Steps::pass(int rows, int tokens, bool single, int outputs) const {
    const Buffers &f = buffers_;
    Pass p{};
    p.shape = &model_.shape;
    p.model = &model_;
    p.products = const_cast<Products *>(&products_);
    p.slots = slots_.view();
    p.act = act_;
    p.scratch = draw_;
    p.scratch.results = f.results;
    p.scratch.candidates = f.candidates;
    p.scratch.finished = f.finished;
    p.rows = rows;
    p.tokens = tokens;
    p.single = single;
    p.mixes = f.mixes;
    p.adapted = f.adapted;
    p.adapters = adapters_.table();
    p.adapter_tiles = single ? nullptr : adapter_tiles_;
    p.adapter_tile_count = f.adapter_tile_count;
    p.outputs = outputs;
    p.sent = single ? f.input : nullptr;
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
        if (int b = bucket(n); b != last) graph(last = b, false, Adapted::No);
}

// A graph is captured when it is first needed: by `capture` for plain steps, later for mixes
// and adapters.
const Steps::Graph &Steps::graph(int bucket, bool mixes, Adapted adapted) {
    auto &made = graphs_[{bucket, mixes, adapted}];
    if (made) return *made;
    Pass p = pass(bucket, bucket, true, bucket);
    p.mixes = mixes;
    p.adapted = adapted;
    auto g = std::make_unique<Graph>();
    products_.prepare(bucket, bucket); // planning must not happen during capture
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
    std::vector<Operands> uses = model_.shape.version->operands(model_.shape, act_);
    uses.push_back({Product::Output, &Layer::output, act_.y, act_.x});
    for (const Operands &use : uses) {
        std::vector<const void *> all;
        for (const Layer &l : model_.layers) all.push_back(l.*use.weights);
        operands[use.product] = {all, use.x, use.y, token_room_};
    }
    operands[Product::Head] = {{model_.head}, act_.last, act_.logits, row_room_};
    stream_.wait();
    products_.tune(sizes, operands, seconds, stream_);
    capture();
}

void Steps::upload(const Pass &p) {
    const Buffers &f = buffers_;
    upload_values(bans_, f.bans, f.bans_used, stream_);
    if (p.single) return;
    upload_values(input_, f.input, p.rows, stream_);
    upload_values(token_ids_, f.token_ids, p.tokens, stream_);
    upload_values(row_of_, f.row_of, p.tokens, stream_);
    upload_values(output_row_, f.output_row, p.outputs, stream_);
    upload_values(chunk_tiles_, f.chunk_tiles, f.chunk_tile_count, stream_);
    upload_values(chunk_rows_, f.chunk_rows, f.chunk_row_count, stream_);
    upload_values(adapter_tiles_, f.adapter_tiles, f.adapter_tile_count, stream_);
}

void Steps::step(const Rows &a, rk_result *results, rk_candidate *candidates) {
    const double began = now_ms();
    check(a);
    submit(a);
    const double queued = now_ms();
    wait();
    const Buffers &f = buffers_;
    const int rows = (int)f.output_of.size();
    for (int i = 0; i < rows; i++) results[i] = f.output_of[i] >= 0 ? f.results[f.output_of[i]] : rk_result{};
    if (f.tops > 0) memcpy(candidates, f.candidates, f.tops * sizeof(rk_candidate));
    untimed_ = true;
    timing_.submit = queued - began;
    timing_.wait = now_ms() - queued;
    timing_.rows = rows;
    timing_.tokens = f.tokens;
    timing_.bucket = f.bucket;
}

// Queues a step.
void Steps::submit(const Rows &a) {
    bool single = true;
    std::vector<int> used;
    for (int i = 0; i < a.n_rows; i++) {
        single &= a.rows[i].token_count == 1;
        used.push_back(a.rows[i].slot);
    }
    fill_rows(a, single);
    Buffers &f = buffers_;
    untimed_ = false;
    *f.finished = 0;
    const int outputs = (int)(f.output_of.size() - std::count(f.output_of.begin(), f.output_of.end(), -1));
    f.draws = outputs > 0 || single;
    Pass p = single ? pass(f.bucket, f.bucket, true, f.bucket) : pass(a.n_rows, f.tokens, false, outputs);
    p.chunk_tile_count = f.chunk_tile_count;
    p.chunk_row_count = f.chunk_row_count;
    slots_.before_step(used, stream_);
    upload(p);
    f.begin.record(stream_);
    if (single && !(options_.flags & RK_OPEN_EAGER)) {
        ::check(gpuGraphLaunch(graph(f.bucket, f.mixes, f.adapted).exec, stream_), "launching a step");
        timing_.graphs++;
    } else {
        run(p);
    }
    f.end.record(stream_);
    slots_.after_step(used, &f.end);
    timing_.steps++;
}

// Polls the flag, because sleeping would take longer than a step of a small model, and now
// and then asks whether the device still works.
void Steps::wait() const {
    const Buffers &f = buffers_;
    const volatile uint32_t *finished = f.finished;
    for (int i = 1; f.draws && *finished == 0; i++) {
        if (i % kLooks == 0) {
            const gpuError state = gpuEventQuery(f.end);
            if (state != gpuNotReady) {
                ::check(state, "waiting for the device");
                break;
            }
            gpuLastError(); // clears gpuNotReady, which is no error
        }
        rest_briefly();
    }
    if (!f.draws) f.end.wait();
    std::atomic_thread_fence(std::memory_order_acquire);
}

// Asks for the device's time here and not in `step`, because asking costs host time.
void Steps::fill(rk_timing *timing) {
    if (untimed_) {
        float ms = 0;
        buffers_.end.wait();
        ::check(gpuEventElapsed(&ms, buffers_.begin, buffers_.end), "timing a step");
        timing_.device = ms;
        untimed_ = false;
    }
    *timing = timing_;
}

void Steps::read_logits(int row, float *dst) {
    if (timing_.steps == 0) fail(RK_ERR_ARGUMENT, "no step was made yet");
    const Buffers &f = buffers_;
    if (row < 0 || row >= (int)f.output_of.size() || f.output_of[row] < 0)
        fail(RK_ERR_ARGUMENT, "row %d of the last step has no logits", row);
    const int64_t v = model_.shape.vocab;
    download_values(logits_staging_, act_.logits + f.output_of[row] * act_.logits_stride, v, stream_);
    stream_.wait();
    memcpy(dst, logits_staging_, v * sizeof(float));
}

void Steps::drop_adapter(int id) {
    stream_.wait();
    adapters_.drop(id);
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
