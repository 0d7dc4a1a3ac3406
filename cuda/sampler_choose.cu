// sampler_choose.cu: the draw of each row, one block a row.
#include "sampler.h"
#include "small_device.h"

namespace sampling {

namespace {

// What a draw draws from, as infer/sampler's distribution.
struct Distribution {
    float m, scale, theta;
    int tie_last;      // of ids with z == theta, the last one kept
    bool shared;       // those with z == theta have tie_mass each
    uint64_t tie_mass;
    uint64_t total;

    __device__ uint64_t mass_of(int id, float z) const {
        if (z > theta) return mass(z, m, scale);
        if (z != theta || id > tie_last) return 0;
        return shared ? tie_mass : mass(z, m, scale);
    }
};

// What weigh found for one row, and where a cut falls among the buckets.
struct Buckets {
    const Row &row;
    float m, scale;
    const uint64_t *mass;    // [chunks][kBuckets]
    const int32_t *count;    // the same

    // Sums over chunks, to shared memory; one warp a bucket.
    __device__ void sum(Work &w) const {
        for (int b = threadIdx.x / kWarp; b < kBuckets; b += kBlock / kWarp) {
            uint64_t all = 0;
            int many = 0;
            for (int c = threadIdx.x % kWarp; c < row.chunks; c += kWarp) {
                all += mass[c * kBuckets + b];
                many += count[c * kBuckets + b];
            }
            all = warp_sum(all);
            many = warp_sum_of(many);
            if (threadIdx.x % kWarp == 0) {
                w.bucket_mass[b] = all;
                w.bucket_count[b] = many;
            }
        }
        __syncthreads();
    }

    // The bucket in which the running sum reaches target; *target becomes what it
    // lacks before it.
    template <typename T> __device__ static int find(const T *sums, uint64_t *target) {
        int b = 0;
        for (; b < kBuckets - 1 && (uint64_t)sums[b] < *target; b++) *target -= (uint64_t)sums[b];
        return b;
    }

    __device__ int of(float z) const { return bucket_of(z, m, scale); }

    __device__ auto values(int bucket) const {
        return scattered(
            row, [=](int c) { return count[c * kBuckets + bucket] > 0; }, [=](float z) { return of(z) == bucket; });
    }

    __device__ Range range(int bucket) const {
        const float begin = bucket_begin(bucket), end = bucket == kBuckets - 1 ? begin + 4096 : bucket_begin(bucket + 1);
        return Range(m - (begin - 1) / scale, (end - begin) / scale);
    }
};

// The cut at target, a mass or a count, of which sums are those of the buckets.
// w.list has the values of its bucket then, if there is room.
template <typename T, typename F> __device__ Cutoff cut_in(const Buckets &buckets, const T *sums, uint64_t target, Work &w, F measure) {
    const int bucket = Buckets::find(sums, &target);
    if (w.bucket_count[bucket] > kList) return cut(buckets.values(bucket), buckets.range(bucket), target, w, measure);
    buckets.values(bucket).gather(w);
    return cut(Listed{buckets.row, w}, buckets.range(bucket), target, w, measure);
}

struct Cutoffs {
    Cutoff p, k;
};

// Where top_p and top_k cut the softmax of the buckets, whose mass is sum.
__device__ Cutoffs cutoffs(const Buckets &buckets, const RowInput &in, uint64_t sum, Work &w) {
    Cutoffs c{};
    if (in.top_k > 0 && in.top_k < buckets.row.limit)
        c.k = cut_in(buckets, w.bucket_count, in.top_k, w, [](int, float) -> uint64_t { return 1; });
    if (in.top_p < 1) {
        const uint64_t target = max(1ull, (unsigned long long)ceil((double)in.top_p * (double)sum));
        c.p = cut_in(buckets, w.bucket_mass, target, w, [&](int, float z) { return mass(z, buckets.m, buckets.scale); });
    }
    return c;
}

// Fills w.chunk with the sums of measure over the values of theta's bucket, which
// for others is 0, and returns their sum.
template <typename F> __device__ uint64_t sum_bucket(const Buckets &buckets, float theta, Work &w, F measure) {
    const int bucket = buckets.of(theta);
    for (int c = threadIdx.x; c < buckets.row.chunks; c += kBlock) w.chunk[c] = 0;
    if (w.bucket_count[bucket] <= kList) buckets.values(bucket).gather(w);
    __syncthreads();
    uint64_t sum = 0;
    const auto add = [&](int id, float z) {
        const uint64_t v = measure(id, z);
        if (v == 0) return;
        add_to(&w.chunk[id / kDrawChunk], v);
        sum += v;
    };
    if (w.bucket_count[bucket] <= kList)
        Listed{buckets.row, w}.each(add);
    else
        buckets.values(bucket).each(add);
    return block_total(sum, w);
}

__device__ void truncate_rwkv(const Buckets &buckets, const RowInput &in, uint64_t sum, Work &w, Distribution &d) {
    const Cutoffs c = cutoffs(buckets, in, sum, w);
    d.theta = z_of(max(c.p.key, c.k.key));
    if (c.k.key != 0 && c.k.key >= c.p.key) {
        const float theta = d.theta;
        const auto tie = [theta](int, float z) -> uint64_t { return z == theta; };
        sum_bucket(buckets, theta, w, tie);
        d.tie_last = pick(buckets.row, c.k.rest - 1, w, tie);
    }
}

__device__ void truncate_rapid(const Buckets &buckets, const RowInput &in, uint64_t sum, Work &w, Distribution &d) {
    const Cutoffs c = cutoffs(buckets, in, sum, w);
    const uint32_t key = max(c.p.key, c.k.key);
    const float theta = d.theta = z_of(key);
    const uint64_t ties = sum_bucket(buckets, theta, w, [theta](int, float z) -> uint64_t { return z == theta; });
    const uint64_t own = mass(theta, d.m, d.scale);
    d.shared = true;
    d.tie_mass = own;
    if (c.p.key == key) d.tie_mass = min(d.tie_mass, c.p.rest / ties);
    if (c.k.key == key && c.k.rest < ties) d.tie_mass = min(d.tie_mass, own * c.k.rest / ties);
    if (theta == d.m) d.tie_mass = max(d.tie_mass, (uint64_t)1); // nothing else is kept
}

// Fills w.chunk with the masses of the kept values, and returns their sum. Where
// the draw's masses are those of the buckets, all but one bucket is known.
__device__ uint64_t weigh_kept(const Buckets &buckets, Work &w, const Distribution &d) {
    const auto measure = [&](int id, float z) { return d.mass_of(id, z); };
    if (d.scale != buckets.scale) return sum_chunks(buckets.row, d.theta, w, measure);
    const int bucket = buckets.of(d.theta);
    uint64_t sum = sum_bucket(buckets, d.theta, w, measure);
    uint64_t more = 0;
    for (int c = threadIdx.x; c < buckets.row.chunks; c += kBlock) {
        uint64_t above = 0;
        for (int b = 0; b < bucket; b++) above += buckets.mass[c * kBuckets + b];
        w.chunk[c] += above;
        more += above;
    }
    return sum + block_total(more, w);
}

// Draws. w.chunk has the masses of the chunks, and sum is theirs.
__device__ int draw(const DrawArgs &a, int out, const Row &row, const RowInput &in, uint64_t sum, Work &w, Distribution &d) {
    if (in.draw == Draw::Greedy) {
        const float m = d.m;
        const auto best = [m](int, float z) -> uint64_t { return z == m; };
        d.theta = m;
        sum_chunks(row, m, w, best);
        d.tie_last = pick(row, 0, w, best);
        d.total = mass(m, m, d.scale);
        return d.tie_last;
    }
    d.total = sum;
    if (in.truncates(row.limit)) {
        const int64_t at = (int64_t)out * row.chunks * kBuckets;
        const Buckets buckets{row, d.m, in.draw == Draw::Rapid ? d.scale : kSoftmaxScale, a.scratch.bucket_mass + at, a.scratch.bucket_count + at};
        buckets.sum(w);
        if (in.draw == Draw::Rapid)
            truncate_rapid(buckets, in, sum, w, d);
        else
            truncate_rwkv(buckets, in, sum, w, d);
        d.total = weigh_kept(buckets, w, d);
    }
    if (d.total == 0) return 0;
    return pick(row, __umul64hi(d.total, random_word(in.seed, in.index)), w, [&](int id, float z) { return d.mass_of(id, z); });
}

// Puts raw logits back.
__device__ void restore(const DrawArgs &a, const RowInput &in, int out) {
    float *logits = a.logits + out * a.stride;
    const int seen = in.penalised() ? a.slots.count_size[in.slot] : 0;
    for (int i = threadIdx.x; i < seen; i += kBlock)
        logits[a.slots.count_token[(int64_t)in.slot * a.slots.limit + i]] = a.scratch.raw[(int64_t)out * a.slots.limit + i];
    __syncthreads(); // a token that is both was banned first
    for (int i = threadIdx.x; i < in.ban_count; i += kBlock) {
        logits[a.bans[in.ban_offset + i]] = a.scratch.ban_raw[in.ban_offset + i];
    }
    __syncthreads();
}

// The logarithm of the sum of exp(logit).
__device__ double log_normaliser(const DrawArgs &a, int out, double *shared) {
    if (threadIdx.x < kWarp) {
        const float *best = a.scratch.raw_best + out * a.scratch.chunks, *sums = a.scratch.raw_sum + out * a.scratch.chunks;
        float most = kNegInf;
        for (int c = threadIdx.x; c < a.scratch.chunks; c += kWarp) most = fmaxf(most, best[c]);
        most = warp_max(most);
        double sum = 0;
        for (int c = threadIdx.x; c < a.scratch.chunks; c += kWarp)
            if (best[c] > kNegInf) sum += (double)sums[c] * exp((double)best[c] - (double)most);
        for (int o = kWarp / 2; o > 0; o >>= 1) sum += SHFL_XOR(sum, o);
        if (threadIdx.x == 0) *shared = (double)most + log(sum);
    }
    __syncthreads();
    return *shared;
}

// The row's likeliest tokens by raw logits, with what the draw gave them;
// returns how many there are.
__device__ int list_candidates(const DrawArgs &a, const RowInput &in, int out, const Distribution &d, double norm, Work &w) {
    const Row raw{a.logits + out * a.stride, a.slots.limit, a.scratch.chunks, a.scratch.raw_best + out * a.scratch.chunks};
    const uint64_t likely = sum_chunks(raw, -kMaxFloat, w, [](int, float z) -> uint64_t { return z > kNegInf; });
    const int n = (int)min((uint64_t)in.top, likely);
    if (n == 0) return 0;
    float m = kNegInf;
    for (int c = 0; c < raw.chunks; c++) m = fmaxf(m, raw.best[c]);
    const float least = fmaxf(reached_by(raw, n, w), -kMaxFloat);
    const auto reaching = [&](float least) {
        return scattered(
            raw, [=](int c) { return raw.best[c] >= least; }, [=](float z) { return z >= least; });
    };
    const Cutoff c = cut(reaching(least), Range(m, fmaxf(fminf(m - least, kMaxFloat), 1e-30f)), n, w, [](int, float) -> uint64_t { return 1; });
    const float theta = z_of(c.key);
    const auto tie = [theta](int, float z) -> uint64_t { return z == theta; };
    sum_chunks(raw, theta, w, tie);
    const int tie_last = pick(raw, c.rest - 1, w, tie);
    // Their ids to the short list, with their logits as keys and what the draw saw.
    if (threadIdx.x == 0) w.count = 0;
    __syncthreads();
    float *changed = reinterpret_cast<float *>(w.bins);
    reaching(theta).each([&](int id, float z) {
        if (z == theta && id > tie_last) return;
        const int at = atomicAdd(&w.count, 1);
        w.list[at] = id;
        w.short_key[at] = __float_as_uint(z);
        changed[at] = raw.z[id];
    });
    __syncthreads();
    const int seen = in.penalised() ? a.slots.count_size[in.slot] : 0;
    const int64_t list = (int64_t)in.slot * a.slots.limit;
    for (int j = threadIdx.x; j < seen; j += kBlock)
        for (int i = 0; i < n; i++)
            if (w.list[i] == a.slots.count_token[list + j])
                changed[i] = raw.z[w.list[i]] - penalty(in, a.slots.count_n[list + j], a.slots.count_first[list + j]);
    __syncthreads();
    for (int j = threadIdx.x; j < in.ban_count; j += kBlock)
        for (int i = 0; i < n; i++)
            if (w.list[i] == a.bans[in.ban_offset + j]) changed[i] = kNegInf;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += kBlock) {
        const float z = __uint_as_float(w.short_key[i]);
        const int id = w.list[i];
        int rank = 0;
        for (int j = 0; j < n; j++) {
            const float other = __uint_as_float(w.short_key[j]);
            rank += other > z || (other == z && w.list[j] < id);
        }
        const uint64_t own = d.total > 0 ? d.mass_of(id, tame(changed[i])) : 0;
        a.scratch.candidates[in.top_offset + rank] = {id, (float)((double)z - norm), d.total > 0 ? (float)((double)own / (double)d.total) : 0.0f};
    }
    __syncthreads();
    return n;
}

__device__ float decayed(float n, float decay) {
    n *= decay;
    return n < 0x1p-64f ? 0.0f : n;
}

// Lets the counts decay and counts the token.
__device__ void observe(const DrawArgs &a, const RowInput &in, int token, Work &w) {
    const int64_t list = (int64_t)in.slot * a.slots.limit;
    const int n = a.slots.count_size[in.slot];
    const bool exempt = in.exempt && (a.scratch.exempt[token / 32] >> token % 32 & 1);
    const float weight = exempt ? 0.0f : 1.0f;
    if (threadIdx.x == 0) w.count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += kBlock) {
        float occurrences = decayed(a.slots.count_n[list + i], in.decay);
        if (a.slots.count_token[list + i] == token) {
            occurrences += weight;
            w.count = 1;
        }
        a.slots.count_n[list + i] = occurrences;
        a.slots.count_first[list + i] = decayed(a.slots.count_first[list + i], in.decay);
    }
    __syncthreads();
    if (threadIdx.x > 0 || w.count > 0 || n >= a.slots.limit) return;
    a.slots.count_token[list + n] = token;
    a.slots.count_n[list + n] = weight;
    a.slots.count_first[list + n] = weight;
    a.slots.count_size[in.slot] = n + 1;
}

__global__ void __launch_bounds__(kBlock, 2) choose(DrawArgs a) {
    __shared__ Work w;
    __shared__ double norm_shared;
    begin_early();
    const int out = blockIdx.x, row = a.row(out);
    const RowInput &in = a.input[row];
    rk_result *result = a.scratch.results + out;
    if (in.draw == Draw::None || a.frozen(row)) {
        if (threadIdx.x == 0) *result = {0, 0.0f, 0, in.draw == Draw::None ? 0u : RK_RESULT_FROZEN};
        return;
    }
    const int chunks = a.scratch.chunks;
    const Row z{a.logits + out * a.stride, a.slots.limit, chunks, a.scratch.best + out * chunks};
    Distribution d{kNegInf, in.scale, kNegInf, INT32_MAX, false, 0, 0};
    uint64_t sum = 0;
    for (int c = threadIdx.x % kWarp; c < chunks; c += kWarp) { // by every warp
        d.m = fmaxf(d.m, z.best[c]);
        if (in.draw == Draw::Greedy) continue;
        const uint64_t own = a.scratch.mass[out * chunks + c];
        sum += own;
        if (threadIdx.x < kWarp) w.chunk[c] = own;
    }
    d.m = warp_max(d.m);
    sum = warp_sum(sum);
    __syncthreads();
    const int token = d.m > kNegInf ? draw(a, out, z, in, sum, w, d) : 0;
    restore(a, in, out);
    const double norm = log_normaliser(a, out, &norm_shared);
    const int candidates = in.top > 0 ? list_candidates(a, in, out, d, norm, w) : 0;
    if (threadIdx.x == 0) {
        const float log_prob = d.total > 0 ? (float)((double)tame(z.z[token]) - norm) : kNegInf;
        *result = {token, log_prob, candidates, a.scratch.nan[out] ? RK_RESULT_NAN : 0u};
        a.scratch.nan[out] = 0;
        a.slots.drawn[in.slot] = token;
    }
    if (in.flags & RK_ROW_OBSERVE) observe(a, in, token, w);
}

} // namespace

void choose_tokens(const DrawArgs &a, int outputs, gpuStream stream) { launch_early(choose, outputs, kBlock, 0, stream, a); }

} // namespace sampling

void draw(const Pass &p) {
    sampling::DrawArgs a{};
    a.logits = p.act.logits;
    a.stride = p.act.logits_stride;
    a.vocab = p.shape->vocab;
    a.input = p.input;
    a.row_slot = p.row_slot;
    a.output_row = p.output_row;
    a.bans = p.bans;
    a.slots = p.slots;
    a.scratch = p.scratch;
    sampling::scan_logits(a, p.outputs, p.stream);
    sampling::choose_tokens(a, p.outputs, p.stream);
}
