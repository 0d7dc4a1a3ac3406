#include "stream.h"

#include "forward.h"
#include "hopper_device.h"

namespace {

// Part i of buffers of E, each of size values.
void *part(const void *base, int64_t i, int64_t size) { return static_cast<uint16_t *>(const_cast<void *>(base)) + i * size; }

bool is_narrow(const Pass &p) { return p.shape->embed <= stream::kNarrowInputs; }

void multiply(const Pass &p, const stream::Products &all) {
    const auto multiply = p.shape->bf16 ? stream::multiply_bf16 : stream::multiply_half;
    multiply(all, {p.act.partial, p.act.arrived}, p.stream);
}

// project_up in one launch.
void project_up_stream(const Pass &p, int layer) {
    const Shape &s = *p.shape;
    const Layer &l = p.model->layers[layer];
    const int64_t c = s.embed, room = p.act.token_room;
    stream::Products all;
    all.tokens = p.tokens;
    for (int i = 0; i < 3; i++)
        all.add({part(l.up, i, c * s.rank), part(p.act.low, i, room * s.rank), part(p.act.up, i, room * c), s.embed, s.rank, stream::Finish::Store});
    all.add({l.up_g, p.act.low_g, part(p.act.up, 3, room * c), s.embed, s.rank_gp, stream::Finish::Store});
    multiply(p, all);
}

} // namespace

bool takes_stream(const Pass &p) { return p.tokens <= (is_narrow(p) ? stream::kMostNarrowTokens : stream::kMostTokens) && hopper::is_current(); }

void project_stream(const Pass &p, int layer) {
    using stream::Finish;
    const Shape &s = *p.shape;
    const Layer &l = p.model->layers[layer];
    const int64_t c = s.embed, room = p.act.token_room;
    shift_attention(p, layer);
    stream::Products all;
    all.tokens = p.tokens;
    for (int i = 0; i < 3; i++)
        all.add({part(l.rkv, i, c * c), part(p.act.mixed, i, room * c), part(p.act.rkv, i, room * c), s.embed, s.embed, Finish::Store});
    for (int i = 0; i < 3; i++) // v, w, a
        all.add({part(l.down, i, s.rank * c), part(p.act.mixed, 2 + i, room * c), part(p.act.low, i, room * s.rank), s.rank, s.embed,
                 i == 1 ? Finish::Tanh : Finish::Store});
    all.add({l.down_g, part(p.act.mixed, 5, room * c), p.act.low_g, s.rank_gp, s.embed, Finish::Sigmoid});
    multiply(p, all);
    if (is_narrow(p) && p.tokens > 64)
        project_up_stream(p, layer);
    else
        project_up(p, layer);
}

void key_stream(const Pass &p, int layer) {
    if (!is_narrow(p) || p.tokens <= 64) return key(p, layer);
    shift_ffn(p, layer);
    stream::Products all;
    all.tokens = p.tokens;
    all.add({p.model->layers[layer].key, p.act.mixed, p.act.hidden, p.shape->ffn, p.shape->embed, stream::Finish::Square});
    multiply(p, all);
}
