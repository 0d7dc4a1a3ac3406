// abi.cu: the exported functions of rookery.h. Each catches every exception and returns
// a status.
#include <cstring>
#include <new>

#include "device/peaks.h"
#include "engine/engine.h"

static_assert(sizeof(rk_device) == 104 && sizeof(rk_shape) == 44 && sizeof(rk_options) == 40, "layout of rookery.h");
static_assert(sizeof(rk_row) == 88 && sizeof(rk_result) == 20 && sizeof(rk_candidate) == 12, "layout of rookery.h");
static_assert(sizeof(rk_peaks) == 24, "layout of rookery.h");
static_assert(sizeof(rk_count) == 12 && sizeof(rk_memory) == 32 && sizeof(rk_timing) == 56, "layout of rookery.h");

namespace {

// Runs f; turns an exception into a status and a message.
template <typename F> int32_t guarded(F f) {
    try {
        f();
        return RK_OK;
    } catch (const Failure &failure) {
        remember(failure.message);
        return failure.status;
    } catch (const std::bad_alloc &) {
        remember("not enough memory on the host");
        return RK_ERR_MEMORY;
    } catch (const std::exception &e) {
        remember(std::string("internal error: ") + e.what());
        return RK_ERR_DEVICE;
    }
}

// The same on the device of an engine. A lost device is not used again.
template <typename F> int32_t with_engine(rk_engine *e, F f) {
    const int32_t status = guarded([&] {
        if (!e) fail(RK_ERR_ARGUMENT, "no engine");
        if (e->lost) fail(RK_ERR_DEVICE, "the device failed earlier: close the model and load it again");
        check(gpuSetDevice(e->device), "selecting the device");
        f();
    });
    if (status == RK_ERR_DEVICE) e->lost = true;
    return status;
}

void require(const void *p, const char *what) {
    if (!p) fail(RK_ERR_ARGUMENT, "no %s", what);
}

} // namespace

extern "C" {

int32_t rk_abi_version(void) { return RK_ABI_VERSION; }

int32_t rk_device_count(int32_t *count) {
    return guarded([&] {
        require(count, "count");
        *count = 0;
        int n = 0;
        check(gpuGetDeviceCount(&n), "looking for GPUs");
        *count = n;
    });
}

int32_t rk_device_info(int32_t index, rk_device *info) {
    return guarded([&] {
        require(info, "info");
        gpuProperties p;
        check(gpuGetDeviceProperties(&p, index), "asking for the device");
        check(gpuSetDevice(index), "selecting the device");
        size_t available = 0, total = 0;
        check(gpuMemGetInfo(&available, &total), "asking for free device memory");
        int driver = 0;
        check(gpuDriverVersion(&driver), "asking for the driver");
        *info = {};
        memcpy(info->name, p.name, std::min(strlen(p.name), sizeof info->name - 1));
        info->memory_total = (int64_t)total;
        info->memory_free = (int64_t)available;
        info->l2_bytes = p.l2CacheSize;
        info->multiprocessors = p.multiProcessorCount;
        info->major = p.major;
        info->minor = p.minor;
        info->driver = driver;
    });
}

int32_t rk_device_peaks(int32_t index, rk_peaks *peaks) {
    return guarded([&] {
        require(peaks, "peaks");
        check(gpuSetDevice(index), "selecting the device");
        *peaks = measure_peaks();
    });
}

int32_t rk_open(const rk_shape *shape, const rk_options *options, rk_engine **engine) {
    return guarded([&] {
        require(shape, "shape");
        require(options, "options");
        require(engine, "engine");
        *engine = nullptr;
        check(gpuSetDevice(options->device), "selecting the device");
        *engine = new rk_engine(*shape, *options);
    });
}

int32_t rk_load(rk_engine *e, const char *name, int32_t dtype, const int64_t *dims, int32_t ndim, const void *data, int64_t bytes) {
    return with_engine(e, [&] {
        require(name, "name");
        require(dims, "dims");
        require(data, "data");
        if (dtype < RK_F32 || dtype > RK_BF16) fail(RK_ERR_ARGUMENT, "tensor %s: unknown number type %d", name, dtype);
        if (ndim < 0 || ndim > 8) fail(RK_ERR_ARGUMENT, "tensor %s: %d dimensions", name, ndim);
        e->loading().load(name, dtype, dims, ndim, data, bytes);
    });
}

int32_t rk_ready(rk_engine *e) {
    return with_engine(e, [&] { e->ready(); });
}

int32_t rk_tune(rk_engine *e, double seconds) {
    return with_engine(e, [&] { e->tune(seconds); });
}

int32_t rk_close(rk_engine *e) {
    return guarded([&] {
        if (!e) return;
        check(gpuSetDevice(e->device), "selecting the device");
        delete e;
    });
}

int32_t rk_step(rk_engine *e, const rk_row *rows, int32_t n_rows, const int32_t *tokens, int32_t n_tokens, const int32_t *bans,
                int32_t n_bans, rk_result *results, rk_candidate *candidates) {
    return with_engine(e, [&] {
        require(rows, "rows");
        require(tokens, "tokens");
        require(results, "results");
        if (n_bans > 0) require(bans, "bans");
        e->stepping().step({rows, n_rows, tokens, n_tokens, bans, n_bans}, results, candidates);
    });
}

int32_t rk_read_logits(rk_engine *e, int32_t row, float *dst) {
    return with_engine(e, [&] {
        require(dst, "dst");
        e->stepping().read_logits(row, dst);
    });
}

int32_t rk_new_adapter(rk_engine *e, int32_t *id) {
    return with_engine(e, [&] {
        require(id, "id");
        *id = e->stepping().adapters().add();
    });
}

int32_t rk_set_delta(rk_engine *e, int32_t id, int32_t layer, int32_t target, int32_t rank, const float *down, const float *up,
                     const float *gain, const float *blocks, int32_t size) {
    return with_engine(e, [&] {
        require(down, "down");
        require(up, "up");
        e->stepping().adapters().set(id, layer, target, {rank, down, up, gain, blocks, size});
    });
}

int32_t rk_drop_adapter(rk_engine *e, int32_t id) {
    return with_engine(e, [&] { e->stepping().drop_adapter(id); });
}

int32_t rk_adapter_bytes(rk_engine *e, int32_t id, int64_t *bytes) {
    return with_engine(e, [&] {
        require(bytes, "bytes");
        *bytes = e->stepping().adapters().bytes(id);
    });
}

int32_t rk_read_slot(rk_engine *e, int32_t slot, float *dst) {
    return with_engine(e, [&] {
        require(dst, "dst");
        e->stepping();
        e->slots.read(slot, dst);
    });
}

int32_t rk_read_slot_beside(rk_engine *e, int32_t slot, float *dst) {
    return with_engine(e, [&] {
        require(dst, "dst");
        e->stepping();
        e->slots.read_beside(slot, dst);
    });
}

int32_t rk_write_slot(rk_engine *e, int32_t slot, const float *src) {
    return with_engine(e, [&] {
        require(src, "src");
        e->stepping();
        e->slots.write(slot, src);
    });
}

int32_t rk_copy_slot(rk_engine *e, int32_t dst, int32_t src) {
    return with_engine(e, [&] {
        e->stepping();
        e->slots.copy(dst, src);
    });
}

int32_t rk_zero_slot(rk_engine *e, int32_t slot) {
    return with_engine(e, [&] {
        e->stepping();
        e->slots.zero(slot);
    });
}

int32_t rk_set_counts(rk_engine *e, int32_t slot, const rk_count *counts, int32_t n) {
    return with_engine(e, [&] {
        if (n > 0) require(counts, "counts");
        e->slots.set_counts(slot, counts, n);
    });
}

int32_t rk_get_counts(rk_engine *e, int32_t slot, rk_count *dst, int32_t size, int32_t *n) {
    return with_engine(e, [&] {
        if (size > 0) require(dst, "dst");
        require(n, "n");
        *n = e->slots.get_counts(slot, dst, size);
    });
}

int32_t rk_set_exempt(rk_engine *e, const int32_t *tokens, int32_t n) {
    return with_engine(e, [&] {
        if (n > 0) require(tokens, "tokens");
        e->stepping().set_exempt(tokens, n);
    });
}

int32_t rk_memory_info(rk_engine *e, rk_memory *memory) {
    return guarded([&] {
        require(e, "engine");
        require(memory, "memory");
        *memory = e->memory;
    });
}

int32_t rk_timing_info(rk_engine *e, rk_timing *timing) {
    return with_engine(e, [&] {
        require(timing, "timing");
        e->stepping().fill(timing);
    });
}

} // extern "C"
