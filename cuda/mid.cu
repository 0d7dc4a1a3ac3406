#include "mid.h"

#include "forward.h"
#include "mid_product.h"
#include "vectors.h"

namespace {

using mid::Jobs;

// The parts of a buffer [parts][token_room][width].
template <typename E> struct Parts {
    E *base;
    int64_t part;
    int width;

    __host__ __device__ E *at(int index) const { return base + index * part; }
    __device__ void put(int index, int row, int token, float v) const { at(index)[(int64_t)token * width + row] = from_float<E>(v); }
};

template <typename E> Parts<E> parts(const Pass &p, void *base, int width) { return {static_cast<E *>(base), p.act.token_room * width, width}; }

struct NothingBefore {
    __device__ float before(int, int) const { return 0.0f; }
};

// First halves: v as it is, w through tanh, a as it is, g through a sigmoid.
template <typename E> struct LowSink : NothingBefore {
    Parts<E> low, low_g;

    __device__ void store(int job, int row, int token, float v) const {
        if (job == 3)
            low_g.put(0, row, token, sigmoid(v));
        else
            low.put(job, row, token, job == 1 ? tanhf(v) : v);
    }
};

// r, k and v, then those.
template <typename E> struct ProjectSink : NothingBefore {
    Parts<E> rkv;
    LowSink<E> low;

    __device__ void store(int job, int row, int token, float v) const {
        if (job < 3)
            rkv.put(job, row, token, v);
        else
            low.store(job - 3, row, token, v);
    }
};

template <typename E> struct PartSink : NothingBefore {
    Parts<E> out;
    __device__ void store(int job, int row, int token, float v) const { out.put(job, row, token, v); }
};

template <typename E> struct SquareSink : NothingBefore {
    E *out;
    int width;
    __device__ void store(int, int row, int token, float v) const {
        v = fmaxf(v, 0.0f);
        out[(int64_t)token * width + row] = from_float_bounded<E>(v * v);
    }
};

struct AddSink {
    float *x;
    int width;
    __device__ float before(int row, int token) const { return x[(int64_t)token * width + row]; }
    __device__ void store(int, int row, int token, float v) const { x[(int64_t)token * width + row] = v; }
};

struct StoreSink : NothingBefore {
    float *out;
    int64_t stride;
    __device__ void store(int, int row, int token, float v) const { out[token * stride + row] = v; }
};

template <typename E> LowSink<E> low_sink(const Pass &p) {
    return {{}, parts<E>(p, p.act.low, p.shape->rank), parts<E>(p, p.act.low_g, p.shape->rank_gp)};
}

template <typename E> void add_down(const Pass &p, int layer, Jobs<E> &jobs) {
    const Shape &s = *p.shape;
    const Layer &l = p.model->layers[layer];
    const Parts<E> mixed = parts<E>(p, p.act.mixed, s.embed);
    for (int i = 0; i < 3; i++) jobs.add(static_cast<const E *>(l.down) + (int64_t)i * s.rank * s.embed, mixed.at(2 + i), s.rank, s.embed);
    jobs.add(l.down_g, mixed.at(5), s.rank_gp, s.embed);
}

} // namespace

bool takes_mid(const Pass &p) {
    return p.tokens <= kMidTokens && p.shape->embed % mid::kPart == 0 && p.shape->ffn % mid::kPart == 0;
}

void low_rank_down(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        Jobs<E> jobs;
        add_down(p, layer, jobs);
        mid::product(p, jobs, p.tokens, low_sink<E>(p));
    });
}

void low_rank_up(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const Shape &s = *p.shape;
        const Layer &l = p.model->layers[layer];
        const LowSink<E> low = low_sink<E>(p);
        Jobs<E> jobs;
        for (int i = 0; i < 3; i++) jobs.add(static_cast<const E *>(l.up) + (int64_t)i * s.embed * s.rank, low.low.at(i), s.embed, s.rank);
        jobs.add(l.up_g, low.low_g.at(0), s.embed, s.rank_gp);
        mid::product(p, jobs, p.tokens, PartSink<E>{{}, parts<E>(p, p.act.up, s.embed)});
    });
}

void project_mid(const Pass &p, int layer) {
    shift_attention(p, layer);
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int64_t c = p.shape->embed;
        const Parts<E> mixed = parts<E>(p, p.act.mixed, p.shape->embed);
        Jobs<E> jobs;
        for (int i = 0; i < 3; i++) jobs.add(static_cast<const E *>(p.model->layers[layer].rkv) + i * c * c, mixed.at(i), (int)c, (int)c);
        add_down(p, layer, jobs);
        mid::product(p, jobs, p.tokens, ProjectSink<E>{{}, parts<E>(p, p.act.rkv, p.shape->embed), low_sink<E>(p)});
    });
    low_rank_up(p, layer);
}

void output_mid(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int c = p.shape->embed;
        Jobs<E> jobs;
        jobs.add(p.model->layers[layer].output, p.act.y, c, c);
        mid::product(p, jobs, p.tokens, AddSink{p.act.x, c});
    });
}

void key_mid(const Pass &p, int layer) {
    shift_ffn(p, layer);
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        Jobs<E> jobs;
        jobs.add(p.model->layers[layer].key, p.act.mixed, p.shape->ffn, p.shape->embed);
        mid::product(p, jobs, p.tokens, SquareSink<E>{{}, static_cast<E *>(p.act.hidden), p.shape->ffn});
    });
}

void value_mid(const Pass &p, int layer) {
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        const int c = p.shape->embed;
        Jobs<E> jobs;
        jobs.add(p.model->layers[layer].value, p.act.hidden, c, p.shape->ffn);
        mid::product<E, true>(p, jobs, p.tokens, AddSink{p.act.x, c});
    });
}

void head_mid(const Pass &p) {
    norm_last(p);
    with_element(*p.shape, [&](auto e) {
        using E = decltype(e);
        Jobs<E> jobs;
        jobs.add(p.model->head, p.act.last, p.shape->vocab, p.shape->embed);
        mid::product(p, jobs, p.outputs, StoreSink{{}, p.act.logits, p.act.logits_stride});
    });
}
