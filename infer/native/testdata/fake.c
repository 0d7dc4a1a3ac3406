/* A library with the interface of cuda/rookery.h and without a GPU, for tests.
 *
 * Its model is the one of infer/scripted without a script: the first four
 * values of a state are a hash of all tokens read, 16 bits each, and the logits
 * are random numbers with that hash as their seed. It draws as infer/sampler
 * defines, but never truncates (top_k and top_p are ignored).
 *
 * What goes wrong is said by environment variables:
 *   FAKE_DRIVER=text   there is no driver, for this reason
 *   FAKE_DEVICES=n     number of devices, 1 if not set
 *   FAKE_MEMORY=bytes  of the device
 *   FAKE_LOST=n        the device is lost in step n, counted from 1
 *   FAKE_NAN=n         the logits of step n are not numbers
 *   FAKE_OVERFLOW=name this tensor is said to overflow
 * and by macros: FAKE_ABI is another version, FAKE_WITHOUT_STEP leaves rk_step out.
 *
 * Functions fake_* tell tests what was passed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rookery.h"

#ifndef FAKE_ABI
#define FAKE_ABI RK_ABI_VERSION
#endif

typedef struct {
    uint8_t *seen;
    float *n, *first;
} memory;

typedef struct tensor {
    struct tensor *next;
    char name[128];
    int32_t dtype, ndim;
    int64_t dims[8];
    uint64_t sum;
} tensor;

struct rk_engine {
    rk_shape shape;
    rk_options options;
    int64_t state_len;
    float **states;
    memory *memories;
    uint8_t *exempt;
    float *logits; /* [max_rows][V] */
    tensor *tensors;
    uint64_t adapters[RK_ADAPTERS_MAX + 1]; /* the sum of what each was given; 0: not loaded */
    int64_t steps, counts_sent;
    int lost;
    int32_t n_rows, n_tokens, n_bans;
    rk_row *rows;
    int32_t *tokens, *bans;
};

static char message[512];

static int32_t fail(int32_t status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return status;
}

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *v = getenv(name);
    return v && *v ? atoll(v) : otherwise;
}

RK_API int32_t rk_abi_version(void) { return FAKE_ABI; }

RK_API int32_t rk_last_error(char *dst, int32_t size)
{
    if (size > 0)
        snprintf(dst, (size_t)size, "%s", message);
    return (int32_t)strlen(message);
}

/* ---- devices ------------------------------------------------------------- */

RK_API int32_t rk_device_count(int32_t *count)
{
    const char *why = getenv("FAKE_DRIVER");
    *count = 0;
    if (why && *why)
        return fail(RK_ERR_LIBRARY, "%s", why);
    *count = (int32_t)setting("FAKE_DEVICES", 1);
    return RK_OK;
}

static int64_t device_memory(void) { return setting("FAKE_MEMORY", 8LL << 30); }

RK_API int32_t rk_device_info(int32_t index, rk_device *info)
{
    if (index < 0 || index >= setting("FAKE_DEVICES", 1))
        return fail(RK_ERR_ARGUMENT, "there is no device %d", index);
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "Fake G%d", index);
    info->memory_total = device_memory();
    info->memory_free = device_memory() / 2;
    info->l2_bytes = 1 << 20;
    info->multiprocessors = 7;
    info->major = 9;
    info->driver = 13010;
    return RK_OK;
}

RK_API int32_t rk_device_peaks(int32_t index, rk_peaks *peaks)
{
    if (index < 0 || index >= setting("FAKE_DEVICES", 1))
        return fail(RK_ERR_ARGUMENT, "there is no device %d", index);
    *peaks = (rk_peaks){4e12, 8e14, 5e10};
    return RK_OK;
}

/* ---- engines ------------------------------------------------------------- */

static int64_t weight_bytes(const rk_shape *s)
{
    int64_t c = s->embed, f = s->ffn;
    return 2 * (2 * s->vocab * c + s->layers * (4 * c * c + 2 * c * f));
}

static int64_t slot_bytes(const rk_shape *s)
{
    int64_t state = s->layers * (2LL * s->embed + (int64_t)s->heads * s->head_size * s->head_size);
    return 4 * state + 9LL * s->vocab;
}

static int64_t scratch_bytes(const rk_shape *s, const rk_options *o)
{
    return 4LL * s->vocab * o->max_rows + 64LL * s->embed * o->max_tokens;
}

RK_API int32_t rk_open(const rk_shape *s, const rk_options *o, rk_engine **engine)
{
    *engine = NULL;
    if (s->heads * s->head_size != s->embed || s->embed % 8 || s->ffn % 8)
        return fail(RK_ERR_ARGUMENT, "%d heads of %d in a width of %d, FFN %d", s->heads, s->head_size, s->embed, s->ffn);
    if (o->slots < 1 || o->max_rows < 1 || o->max_rows > o->slots || o->max_tokens < o->max_rows || o->token_limit < 1 || o->token_limit > s->vocab)
        return fail(RK_ERR_ARGUMENT, "slots %d, rows %d, tokens %d, limit %d", o->slots, o->max_rows, o->max_tokens, o->token_limit);
    int64_t need = weight_bytes(s) + o->slots * slot_bytes(s) + scratch_bytes(s, o);
    if (need > device_memory())
        return fail(RK_ERR_MEMORY, "%lld bytes are needed and %lld are free", (long long)need, (long long)device_memory());
    rk_engine *e = calloc(1, sizeof *e);
    e->shape = *s;
    e->options = *o;
    e->options.tuning = o->tuning ? strdup(o->tuning) : NULL;
    e->state_len = s->layers * (2LL * s->embed + (int64_t)s->heads * s->head_size * s->head_size);
    e->states = calloc((size_t)o->slots, sizeof *e->states);
    e->memories = calloc((size_t)o->slots, sizeof *e->memories);
    for (int i = 0; i < o->slots; i++) {
        e->states[i] = calloc((size_t)e->state_len, sizeof(float));
        e->memories[i].seen = calloc((size_t)s->vocab, 1);
        e->memories[i].n = calloc((size_t)s->vocab, sizeof(float));
        e->memories[i].first = calloc((size_t)s->vocab, sizeof(float));
    }
    e->exempt = calloc((size_t)s->vocab, 1);
    e->logits = calloc((size_t)o->max_rows * (size_t)s->vocab, sizeof(float));
    *engine = e;
    return RK_OK;
}

RK_API int32_t rk_close(rk_engine *e)
{
    if (!e)
        return RK_OK;
    for (int i = 0; i < e->options.slots; i++) {
        free(e->states[i]);
        free(e->memories[i].seen);
        free(e->memories[i].n);
        free(e->memories[i].first);
    }
    for (tensor *t = e->tensors, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    free((void *)e->options.tuning);
    free(e->states);
    free(e->memories);
    free(e->exempt);
    free(e->logits);
    free(e->rows);
    free(e->tokens);
    free(e->bans);
    free(e);
    return RK_OK;
}

/* The sum that tests compare: FNV-1a of the bytes. */
static uint64_t sum_of(const uint8_t *p, int64_t n)
{
    uint64_t h = 14695981039346656037u;
    for (int64_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

RK_API int32_t rk_load(rk_engine *e, const char *name, int32_t dtype, const int64_t *dims, int32_t ndim, const void *data, int64_t bytes)
{
    int64_t want = dtype == RK_F32 ? 4 : 2;
    for (int i = 0; i < ndim; i++)
        want *= dims[i];
    if (ndim < 1 || ndim > 8 || want != bytes)
        return fail(RK_ERR_TENSOR, "%lld bytes where its sizes say %lld", (long long)bytes, (long long)want);
    tensor *t = calloc(1, sizeof *t);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->dtype = dtype;
    t->ndim = ndim;
    memcpy(t->dims, dims, (size_t)ndim * sizeof *dims);
    t->sum = sum_of(data, bytes);
    t->next = e->tensors;
    e->tensors = t;
    return RK_OK;
}

static tensor *find(rk_engine *e, const char *name)
{
    for (tensor *t = e->tensors; t; t = t->next)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
}

RK_API int32_t rk_ready(rk_engine *e)
{
    const char *overflow = getenv("FAKE_OVERFLOW");
    if (!find(e, "emb.weight") || !find(e, "head.weight"))
        return fail(RK_ERR_TENSOR, "emb.weight or head.weight is missing");
    if (overflow && *overflow && find(e, overflow))
        return fail(RK_ERR_TENSOR, "%s: a value overflows fp16; load it as bf16", overflow);
    return RK_OK;
}

RK_API int32_t rk_tune(rk_engine *e, double seconds)
{
    if (!(seconds > 0))
        return fail(RK_ERR_ARGUMENT, "tuning for %g seconds", seconds);
    if (!e->options.tuning)
        return RK_OK;
    FILE *f = fopen(e->options.tuning, "w");
    if (!f)
        return fail(RK_ERR_LIBRARY, "cannot write %s", e->options.tuning);
    fprintf(f, "%g seconds\n", seconds);
    fclose(f);
    return RK_OK;
}

#include "fake_draw.h"
#include "fake_steps.h"

/* ---- adapters ---------------------------------------------------------------- */

static int has_adapter(const rk_engine *e, int32_t id) { return id > 0 && id <= RK_ADAPTERS_MAX && e->adapters[id]; }

RK_API int32_t rk_new_adapter(rk_engine *e, int32_t *id)
{
    for (*id = 1; *id <= RK_ADAPTERS_MAX; ++*id)
        if (!e->adapters[*id]) {
            e->adapters[*id] = 1;
            return RK_OK;
        }
    return fail(RK_ERR_MEMORY, "%d adapters are loaded", RK_ADAPTERS_MAX);
}

RK_API int32_t rk_set_delta(rk_engine *e, int32_t id, int32_t layer, int32_t target, int32_t rank, const float *down, const float *up,
                            const float *gain, const float *blocks, int32_t size)
{
    int64_t c = e->shape.embed, in = target == RK_FFN_VALUE ? e->shape.ffn : c;
    int64_t out = target == RK_FFN_KEY ? e->shape.ffn : target == RK_HEAD ? e->shape.vocab : c;
    if (!has_adapter(e, id) || layer < 0 || layer >= e->shape.layers || target < 0 || target > RK_HEAD)
        return fail(RK_ERR_ARGUMENT, "adapter %d, layer %d, product %d", id, layer, target);
    if (rank < 1 || rank > RK_RANK_MAX || (blocks && in % size))
        return fail(RK_ERR_TENSOR, "rank %d, blocks of %d", rank, size);
    uint64_t sum = sum_of((const uint8_t *)down, 4 * rank * in) * 3 + sum_of((const uint8_t *)up, 4 * rank * out) * 5;
    if (gain)
        sum += sum_of((const uint8_t *)gain, 4 * in) * 7;
    if (blocks)
        sum += sum_of((const uint8_t *)blocks, 4 * in * size) * 11;
    e->adapters[id] += sum << 1;
    return RK_OK;
}

RK_API int32_t rk_drop_adapter(rk_engine *e, int32_t id)
{
    if (!has_adapter(e, id))
        return fail(RK_ERR_ARGUMENT, "adapter %d is not loaded", id);
    e->adapters[id] = 0;
    return RK_OK;
}

RK_API int32_t rk_adapter_bytes(rk_engine *e, int32_t id, int64_t *bytes)
{
    *bytes = 1000 + id;
    return has_adapter(e, id) ? RK_OK : fail(RK_ERR_ARGUMENT, "adapter %d is not loaded", id);
}

#include "fake_slots.h"

/* ---- figures ------------------------------------------------------------------ */

RK_API int32_t rk_memory_info(rk_engine *e, rk_memory *m)
{
    *m = (rk_memory){weight_bytes(&e->shape), e->options.slots * slot_bytes(&e->shape), scratch_bytes(&e->shape, &e->options), 4096};
    return RK_OK;
}

RK_API int32_t rk_timing_info(rk_engine *e, rk_timing *t)
{
    memset(t, 0, sizeof *t);
    t->device = 1.5;
    t->submit = 0.25;
    t->wait = 2;
    t->steps = e->steps;
    t->rows = e->n_rows;
    t->tokens = e->n_tokens;
    t->bucket = e->n_rows;
    return RK_OK;
}

/* ---- what tests look at --------------------------------------------------------- */

RK_API int64_t fake_counts_sent(rk_engine *e) { return e->counts_sent; }
RK_API int32_t fake_row_count(rk_engine *e) { return e->n_rows; }
RK_API void fake_rows(rk_engine *e, rk_row *dst) { memcpy(dst, e->rows, (size_t)e->n_rows * sizeof *dst); }
RK_API int32_t fake_token(rk_engine *e, int32_t i) { return e->tokens[i]; }
RK_API int32_t fake_ban(rk_engine *e, int32_t i) { return e->bans[i]; }
RK_API void fake_options(rk_engine *e, rk_options *dst) { *dst = e->options; }

/* 0 if there is no such tensor. */
RK_API int32_t fake_tensor(rk_engine *e, const char *name, int32_t *dtype, int64_t *dims, uint64_t *sum)
{
    tensor *t = find(e, name);
    if (!t)
        return 0;
    *dtype = t->dtype;
    memcpy(dims, t->dims, sizeof t->dims);
    *sum = t->sum;
    return t->ndim;
}
