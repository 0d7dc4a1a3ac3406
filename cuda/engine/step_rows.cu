// step_rows.cu: checks the rows of a step and writes them as kernels read them.
#include "engine/step.h"

#include <cmath>

namespace {

constexpr float kLeastTemperature = 0.001f, kMostTemperature = 1000;

// Sets the parameters of a draw; those with the same effect get the same values, as in
// infer/sampler's Params.effective.
void set_sampling(const rk_row &r, RowInput *in) {
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

// Copies a row's banned tokens, each once, without ids that are no tokens; returns how many
// there are.
int copy_bans(const int32_t *bans, int n, int limit, int32_t *dst) {
    std::copy_n(bans, n, dst);
    std::sort(dst, dst + n);
    int32_t *end = std::unique(dst, dst + n), *first = std::lower_bound(dst, end, 0);
    end = std::lower_bound(first, end, limit);
    std::copy(first, end, dst);
    return (int)(end - first);
}

} // namespace

void Steps::check(const Rows &a) const {
    if (a.n_rows < 1 || a.n_rows > options_.max_rows)
        fail(RK_ERR_ARGUMENT, "%d rows in a step: this engine was opened for 1 to %d", a.n_rows, options_.max_rows);
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
    if (r.adapter != 0 && !adapters_.has(r.adapter)) fail(RK_ERR_ARGUMENT, "row %d: adapter %d is not loaded", i, r.adapter);
    for (int t = 0; t < r.token_count; t++) {
        const int id = a.tokens[r.token_offset + t];
        if (id < 0 || id >= model_.shape.vocab)
            fail(RK_ERR_ARGUMENT, "row %d: token %d; the model has tokens 0 to %d", i, id, model_.shape.vocab - 1);
    }
    if (!(r.flags & RK_ROW_DRAW)) {
        if (r.top != 0) fail(RK_ERR_ARGUMENT, "row %d: candidates without a draw", i);
        if (r.members != 0) fail(RK_ERR_ARGUMENT, "row %d: a mix without a draw", i);
        return;
    }
    check_mix(a, i);
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

void Steps::check_mix(const Rows &a, int i) const {
    const int members = a.rows[i].members;
    if (members == 0) return;
    if (members < 0 || members > RK_MEMBERS_MAX || members > a.n_rows - 1 - i)
        fail(RK_ERR_ARGUMENT, "row %d: a mix with %d more of %d rows; at most %d", i, members, a.n_rows - 1 - i, RK_MEMBERS_MAX);
    for (int k = 0; k <= members; k++) {
        const rk_row &r = a.rows[i + k];
        if (!std::isfinite(r.weight)) fail(RK_ERR_ARGUMENT, "row %d: its weight is out of range", i + k);
        if (k > 0 && ((r.flags & (RK_ROW_DRAW | RK_ROW_LOGITS)) != RK_ROW_LOGITS || r.members != 0))
            fail(RK_ERR_ARGUMENT, "row %d: a member of a mix has logits and does not draw", i + k);
    }
}

// Enters a row of at least a whole tile in the table of chunks, if there are kernels for it.
void Steps::add_chunks(int row) {
    Buffers &f = buffers_;
    RowInput &in = f.input[row];
    if (in.count < kChunkTokens || model_.shape.head_size != kChunkHead) return;
    in.chunked = 1;
    f.chunk_rows[f.chunk_row_count++] = {row, in.first, in.count, f.chunk_tile_count};
    for (int at = 0; at < in.count; at += kChunkTokens)
        f.chunk_tiles[f.chunk_tile_count++] = {in.first + at, std::min(kChunkTokens, in.count - at)};
}

// Notes what a row's adapter needs of the pass, and its tokens.
void Steps::add_adapter(int row, bool single) {
    Buffers &f = buffers_;
    const RowInput &in = f.input[row];
    f.adapted = std::max(f.adapted, adapters_.kind(in.adapter));
    for (int at = 0; at < in.count && !single; at += kAdapterTokens)
        f.adapter_tiles[f.adapter_tile_count++] = {row, in.first + at, std::min(kAdapterTokens, in.count - at)};
}

void Steps::fill_rows(const Rows &a, bool single) {
    Buffers &f = buffers_;
    f.output_of.assign(a.n_rows, -1);
    f.tops = f.bans_used = f.chunk_tile_count = f.chunk_row_count = 0;
    f.mixes = false;
    f.adapted = Adapted::No;
    f.adapter_tile_count = 0;
    int outputs = 0, first = 0, members = 0; // members: rows left of the last mix
    for (int i = 0; i < a.n_rows; i++) {
        const rk_row &r = a.rows[i];
        RowInput in{};
        in.slot = r.slot;
        in.first = first;
        in.count = r.token_count;
        in.token = a.tokens[r.token_offset];
        in.flags = r.flags;
        in.draw = members > 0 ? Draw::Member : Draw::None;
        in.weight = r.weight;
        in.adapter = r.adapter;
        members -= members > 0;
        in.top_offset = f.tops;
        if (r.flags & RK_ROW_DRAW) {
            set_sampling(r, &in);
            in.ban_offset = f.bans_used;
            in.ban_count = copy_bans(a.bans + r.ban_offset, r.ban_count, options_.token_limit, f.bans + f.bans_used);
            f.bans_used += in.ban_count;
            in.members = members = r.members;
            f.mixes |= members > 0;
        }
        f.tops += in.top;
        f.input[i] = in;
        add_chunks(i);
        if (in.adapter != 0) add_adapter(i, single);
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
