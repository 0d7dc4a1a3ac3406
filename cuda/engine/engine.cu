// engine.cu: checks the options and runs an engine through its life.
#include "engine/engine.h"

namespace {

std::string name_of(int device) {
    gpuProperties p;
    check(gpuGetDeviceProperties(&p, device), "asking for the device");
    return p.name;
}

const rk_options &checked(const rk_options &o, const rk_shape &s) {
    if (o.weights != RK_F16 && o.weights != RK_BF16) fail(RK_ERR_ARGUMENT, "weights must be fp16 or bf16");
    if (o.state != RK_F32 && o.state != RK_F16) fail(RK_ERR_ARGUMENT, "states must be fp32 or fp16");
    if (o.slots < 1 || o.slots > 1 << 20) fail(RK_ERR_ARGUMENT, "%d slots: there must be 1 to %d", o.slots, 1 << 20);
    if (o.max_rows < 1 || o.max_rows > o.slots || o.max_rows > 4096)
        fail(RK_ERR_ARGUMENT, "steps of %d rows: there must be 1 to %d", o.max_rows, std::min(o.slots, 4096));
    if (o.max_tokens < o.max_rows || o.max_tokens > 1 << 20)
        fail(RK_ERR_ARGUMENT, "steps of %d tokens: there must be %d to %d", o.max_tokens, o.max_rows, 1 << 20);
    if (o.token_limit < 1 || o.token_limit > s.vocab)
        fail(RK_ERR_ARGUMENT, "a vocabulary of %d tokens: the model has %d", o.token_limit, s.vocab);
    if (o.flags & ~(RK_OPEN_EAGER | RK_OPEN_ONE_BUCKET | RK_OPEN_PORTABLE)) fail(RK_ERR_ARGUMENT, "unknown flags %x", o.flags);
    return o;
}

} // namespace

rk_engine::rk_engine(const rk_shape &shape, const rk_options &options)
    : device(options.device), device_name_(name_of(options.device)), tuning_(options.tuning ? options.tuning : ""),
      model_(Shape(shape, checked(options, shape).weights), arena_), loader_(new Loader(model_)),
      slots(model_.shape, options, arena_, &memory.states, &memory.scratch, &memory.pinned),
      steps_(model_, options, slots, arena_, &memory.scratch, &memory.pinned) {
    memory.weights = model_.bytes;
    check(gpuDeviceSynchronize(), "opening the device");
}

Loader &rk_engine::loading() {
    if (!loader_) fail(RK_ERR_ARGUMENT, "the model is loaded already");
    return *loader_;
}

Steps &rk_engine::stepping() {
    if (loader_) fail(RK_ERR_ARGUMENT, "the model is not loaded yet");
    return steps_;
}

void rk_engine::ready() {
    loading().finish();
    if (!tuning_.empty()) steps_.products().read(tuning_, device_name_);
    steps_.capture();
    loader_.reset();
}

void rk_engine::tune(double seconds) {
    stepping().tune(seconds);
    if (!tuning_.empty()) steps_.products().write(tuning_, device_name_);
}
