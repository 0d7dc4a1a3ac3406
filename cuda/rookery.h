/* rookery.h: the C ABI of Rookery's native backends (CUDA, and HIP by the same
 * sources). One library runs one model per engine on one GPU.
 *
 * Conventions
 *   Every function that can fail returns a status: RK_OK (0) or RK_ERR_*. The
 *   reason, in one line for people, is then in rk_last_error. No exception and
 *   no CUDA or HIP type crosses this interface.
 *
 *   An engine is used by one thread at a time, but by any thread: the library
 *   keeps nothing in thread-locals and selects its device in every call. Only
 *   rk_read_slot_beside may be called by another thread meanwhile.
 *   rk_last_error, rk_device_* and rk_abi_version may be called at any time.
 *
 *   Pointers are borrowed for the length of the call. Arrays may lie in
 *   pageable memory. All structs have the C layout of a 64-bit little-endian
 *   machine, without hidden padding.
 *
 *   Sizes: L layers, C channels (embed), H heads of N values each (H*N == C),
 *   F FFN width, V vocabulary rows of emb and head. Arrays are row-major.
 *
 * Life of an engine
 *   rk_open -> rk_load for every tensor -> rk_ready -> steps, slots -> rk_close
 *
 * After RK_ERR_DEVICE the device is lost to this engine: all further calls but
 * rk_close and rk_memory_info fail with it. States that were read before are safe in
 * the caller's memory. After any other error of rk_step the states of the rows in
 * that step are undefined, those of other slots are untouched. RK_ERR_ARGUMENT is
 * found before anything is changed.
 */
#ifndef ROOKERY_H
#define ROOKERY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RK_API __attribute__((visibility("default")))
#else
#define RK_API
#endif

/* The version of this interface. A library is used only if rk_abi_version
 * returns the number the caller was built with. */
#define RK_ABI_VERSION 7

/* Status codes. */
#define RK_OK 0
#define RK_ERR_ARGUMENT 1 /* a value the caller passed; nothing was changed */
#define RK_ERR_MEMORY 2   /* device or pinned host memory does not suffice */
#define RK_ERR_DEVICE 3   /* the device failed or was lost */
#define RK_ERR_TENSOR 4   /* a tensor is unknown, has other sizes, or is missing */
#define RK_ERR_LIBRARY 5  /* no driver, a driver too old, or cuBLASLt is missing */

/* Number types. */
#define RK_F32 0
#define RK_F16 1
#define RK_BF16 2

typedef struct rk_engine rk_engine;

/* ---- library and devices ------------------------------------------------ */

/* RK_ABI_VERSION as the library was built. */
RK_API int32_t rk_abi_version(void);

/* Copies the last error's message, NUL-terminated and cut to size bytes, and
 * returns its whole length without the NUL. It is process-wide: of the latest
 * failed call on any thread. dst may be NULL if size is 0. */
RK_API int32_t rk_last_error(char *dst, int32_t size);

/* Number of usable devices. RK_ERR_LIBRARY if there is no driver or if it is
 * too old; *count is 0 then. */
RK_API int32_t rk_device_count(int32_t *count);

typedef struct rk_device {
    char name[64];          /* "NVIDIA H200", NUL-terminated */
    int64_t memory_total;   /* bytes */
    int64_t memory_free;    /* bytes, now */
    int64_t l2_bytes;       /* size of the L2 cache */
    int32_t multiprocessors;
    int32_t major, minor;   /* compute capability */
    int32_t driver;         /* CUDA version the driver supports: 13000 is 13.0 */
} rk_device;                /* 104 bytes */

RK_API int32_t rk_device_info(int32_t index, rk_device *info);

/* The rates that a device reaches, to compare other figures with. */
typedef struct rk_peaks {
    double copy;   /* bytes a second, read and written, of a long copy on the device */
    double matrix; /* operations a second of a large fp16 product with fp32 sums, of random values */
    double upload; /* bytes a second from pinned host memory */
} rk_peaks;        /* 24 bytes */

/* Measures them, which takes some tenths of a second and 3 GiB on the device;
 * RK_ERR_MEMORY if they are not free. */
RK_API int32_t rk_device_peaks(int32_t index, rk_peaks *peaks);

/* ---- engines ------------------------------------------------------------ */

/* Versions of RWKV, by their ids (x070). */
#define RK_V4 40
#define RK_V50 50
#define RK_V51 51
#define RK_V52 52
#define RK_V6 60
#define RK_V7 70

typedef struct rk_shape {
    int32_t version;   /* RK_V* */
    int32_t layers;    /* L */
    int32_t embed;     /* C */
    int32_t heads;     /* H */
    int32_t head_size; /* N: 64 fast; 8, 16, 32 and 128 slower; RWKV-4: 1 */
    int32_t ffn;       /* F */
    int32_t vocab;     /* V */
    int32_t ranks[4];  /* of the low-rank branches: RWKV-7 w, a, v, g; RWKV-6 those of each mix and of
                          the decay; the others have none; the rest is 0 */
} rk_shape; /* 44 bytes; C and F are multiples of 8 */

typedef struct rk_options {
    int32_t device;      /* index, from 0 */
    int32_t weights;     /* RK_F16 or RK_BF16: matrices, and activations between kernels */
    int32_t state;       /* RK_F32 or RK_F16: the WKV state; shifts are always fp32 */
    int32_t slots;       /* states in the pool; slots are 0 to slots-1 */
    int32_t max_rows;    /* rows in one step, at most slots */
    int32_t max_tokens;  /* tokens in one step, all rows together, at least max_rows */
    int32_t token_limit; /* ids from here up have no token and are never drawn; 1 to V */
    uint32_t flags;      /* RK_OPEN_* */
    const char *tuning;  /* file that keeps what rk_tune found, or NULL */
} rk_options;            /* 40 bytes */

#define RK_OPEN_EAGER 1u      /* no graphs: kernels are launched one by one (for tests) */
#define RK_OPEN_ONE_BUCKET 2u /* every decoding step runs as a step of max_rows rows: slower, but a
                                 row's results do not depend on how many others there are */
#define RK_OPEN_PORTABLE 4u   /* draws by one block a row, as on devices without clusters of blocks (for tests) */

/* Opens an engine and allocates all of its device and pinned memory; later only adapters
 * allocate. On RK_ERR_MEMORY the message says how much was asked for and how much there
 * is. */
RK_API int32_t rk_open(const rk_shape *shape, const rk_options *options, rk_engine **engine);

/* Copies one tensor to the device, through pinned buffers and without a second
 * copy on the host, and converts it there. name is the canonical one of the
 * released files ("blocks.3.att.w1"); dtype is that of data (RK_F32, RK_F16,
 * RK_BF16); dims are as stored, extra dimensions of 1 ignored; data has bytes
 * bytes. Matrices are [out, in], low-rank ones [in, out] as in the files. Of
 * layer 0, att.v0, v1 and v2 are accepted and ignored. data may be unmapped
 * when the call returns. A value that overflows RK_F16 is RK_ERR_TENSOR from
 * rk_ready, whose message names the tensor. */
RK_API int32_t rk_load(rk_engine *e, const char *name, int32_t dtype,
                       const int64_t *dims, int32_t ndim, const void *data, int64_t bytes);

/* Checks that every tensor is there and prepares steps: matrix products as tuned in the
 * file options.tuning, if it is for this device and shape, and graphs. Afterwards all
 * slots are zero. */
RK_API int32_t rk_ready(rk_engine *e);

/* Measures for about `seconds` which algorithm of each matrix product is the fastest on
 * this device, uses it from now on and writes it to the file options.tuning, if there is
 * one. The last bits of results may differ before and after. */
RK_API int32_t rk_tune(rk_engine *e, double seconds);

/* Frees everything. e may be NULL. */
RK_API int32_t rk_close(rk_engine *e);

/* ---- steps -------------------------------------------------------------- */

/* Sampling modes; definitions in infer/sampler. */
#define RK_MODE_RWKV 0
#define RK_MODE_PIP 1
#define RK_MODE_RAPID 2

/* Row flags. */
#define RK_ROW_DRAW 1u    /* draw a token after the last one read */
#define RK_ROW_OBSERVE 2u /* then decay the slot's counts and count the drawn token */
#define RK_ROW_LOGITS 4u  /* make logits for rk_read_logits; implied by RK_ROW_DRAW */

/* The most candidates of a row, and the most banned tokens of all rows of a step. */
#define RK_TOP_MAX 256
#define RK_BANS_MAX 262144

/* The most rows after the first one of a mix. */
#define RK_MEMBERS_MAX 63

/* One sequence's part of a step. The sampling fields are read only with
 * RK_ROW_DRAW; they mean what infer/sampler.Params says, and must be valid. */
typedef struct rk_row {
    int32_t slot;         /* each slot at most once in a step */
    int32_t token_offset; /* its tokens are tokens[token_offset : token_offset+token_count] */
    int32_t token_count;  /* 1 or more */
    uint32_t flags;       /* RK_ROW_* */
    int32_t top;          /* candidates to return, 0 to RK_TOP_MAX; needs RK_ROW_DRAW */
    int32_t ban_offset;   /* its banned tokens are bans[ban_offset : ban_offset+ban_count] */
    int32_t ban_count;
    int32_t mode;         /* RK_MODE_* */
    float temperature;    /* below 0.001: greedy */
    int32_t top_k;        /* 0: off */
    float top_p;          /* 1: off */
    float presence;
    float frequency;
    float decay;          /* of the slot's counts, when the drawn token is observed */
    int32_t members;      /* rows after this one that are members of its mix; needs RK_ROW_DRAW */
    float weight;         /* in a mix: factor of this row's logits */
    int32_t adapter;      /* of rk_new_adapter; 0: none */
    int32_t pad;
    uint64_t seed;        /* of the Philox stream */
    uint64_t draw;        /* which number of the stream this draw takes */
} rk_row;                 /* 88 bytes */

/* A mix is a row that draws and the `members` rows after it. Those have RK_ROW_LOGITS,
 * do not draw and have no members of their own. The first row draws from the logits of
 * the mix in place of its own logits z_0, in fp32:
 *
 *   z = weight_0*z_0, then for each further row whose weight is not 0, in order,
 *   z = z + weight_k*z_k, where every product and every sum is rounded.
 *
 * Weights are finite; they add up to 1 if z is to be a mean. Counts are those of
 * the first row's slot. rk_read_logits returns each row's own logits. */

/* What a step returns for one row: all zero for rows that do not draw, except
 * own_log_prob of the rows of a mix. */
typedef struct rk_result {
    int32_t token;
    float log_prob;     /* natural logarithm, under the model's own softmax */
    int32_t candidates; /* how many there are, at most row.top: tokens of probability 0 are left out */
    uint32_t flags;     /* RK_RESULT_* */
    float own_log_prob; /* in a mix: the log-probability of its token under this row's own softmax */
} rk_result;            /* 20 bytes */

#define RK_RESULT_NAN 1u /* some logits are NaN: the weights are damaged or overflow */

typedef struct rk_candidate {
    int32_t token;
    float log_prob; /* under the model's own softmax */
    float prob;     /* what this draw gave it */
} rk_candidate;     /* 12 bytes */

/* Feeds every row's tokens to its slot and draws where asked. Rows of one token and
 * longer ones may stand in one step. Returns when the results are there.
 *   results     [n_rows]
 *   candidates  those of row 0 from 0, of row 1 from rows[0].top, and so on:
 *               the sum of all rows' top; NULL if that is 0 */
RK_API int32_t rk_step(rk_engine *e, const rk_row *rows, int32_t n_rows,
                       const int32_t *tokens, int32_t n_tokens,
                       const int32_t *bans, int32_t n_bans,
                       rk_result *results, rk_candidate *candidates);

/* Copies the raw logits [V] of row number row of the last step, which needs RK_ROW_DRAW or
 * RK_ROW_LOGITS. Logits stay on the device until the next rk_step. */
RK_API int32_t rk_read_logits(rk_engine *e, int32_t row, float *dst);

/* ---- adapters ----------------------------------------------------------- */

/* An adapter changes products of the model for the rows that name it. The other rows of
 * the step are computed as if there were none, and have the same bits in all steps with
 * adapters. Adapters are loaded and dropped between steps; each takes its memory when it
 * is loaded and gives it back when it is dropped. */
#define RK_ADAPTERS_MAX 64 /* at a time; ids are 1 to this */
#define RK_RANK_MAX 1024

/* Which product of a layer is changed. RWKV-7 has no gate and no FFN receptance of this form. */
#define RK_RECEPTANCE 0
#define RK_KEY 1
#define RK_VALUE 2
#define RK_OUTPUT 3
#define RK_FFN_KEY 4
#define RK_FFN_VALUE 5
#define RK_GATE 6
#define RK_FFN_RECEPTANCE 7
#define RK_HEAD 8 /* of no layer: layer is 0 */

/* Makes an adapter that changes nothing yet. RK_ERR_MEMORY if RK_ADAPTERS_MAX are loaded. */
RK_API int32_t rk_new_adapter(rk_engine *e, int32_t *id);

/* Lets an adapter that no row has used yet change the product W [out, in], once:
 *
 *   y = W x' + up (down x),  x' = x, or gain * x by elements, or x_b + D_b x_b
 *
 *   down   [rank][in], up [out][rank]
 *   gain   [in], or NULL
 *   blocks [in/size][size][size], D_b for each piece x_b of size inputs, or NULL
 *
 * all fp32. All but gain are rounded to the type of the weights; RK_ERR_TENSOR if that
 * type cannot hold a value. */
RK_API int32_t rk_set_delta(rk_engine *e, int32_t id, int32_t layer, int32_t target, int32_t rank, const float *down, const float *up,
                            const float *gain, const float *blocks, int32_t size);

/* Drops an adapter and frees its memory. */
RK_API int32_t rk_drop_adapter(rk_engine *e, int32_t id);

/* Bytes that it takes on the device. */
RK_API int32_t rk_adapter_bytes(rk_engine *e, int32_t id, int64_t *bytes);

/* ---- slots -------------------------------------------------------------- */

/* The canonical state of a slot, fp32, L*(2*C + H*N*N) values: for each layer
 * the att shift [C], the ffn shift [C] and S [H][N value rows][N key columns].
 * RWKV-4 has L*(2*C + 3*C): instead of S the sums of values [C] and of their weights [C],
 * both divided by e^exponent, and the exponents [C]; while a channel's weights are 0,
 * nothing was read and its exponent counts as -1e30. They are always fp32.
 * Reading and writing are exact (with RK_F16 states, writing is exact for values that
 * were read). These calls are ordered before later steps. They run on a stream of
 * their own: a step without the slot does not wait for them.
 * rk_read_slot returns when dst is filled, the others when src may be changed. The
 * counts of a slot are not part of its state. */
RK_API int32_t rk_read_slot(rk_engine *e, int32_t slot, float *dst);

/* rk_read_slot for one more thread. Meanwhile the engine's own thread may make any call
 * but rk_close that does not concern the slot; earlier calls that did are part of what
 * is read. Steps go on meanwhile. */
RK_API int32_t rk_read_slot_beside(rk_engine *e, int32_t slot, float *dst);

RK_API int32_t rk_write_slot(rk_engine *e, int32_t slot, const float *src);
RK_API int32_t rk_copy_slot(rk_engine *e, int32_t dst, int32_t src);
RK_API int32_t rk_zero_slot(rk_engine *e, int32_t slot);

/* ---- sampler memory ----------------------------------------------------- */

/* How often a token occurred, with decay (infer/sampler.Count). */
typedef struct rk_count {
    int32_t token;
    float n;     /* all occurrences */
    float first; /* the part of n that the first occurrence is */
} rk_count;      /* 12 bytes */

/* Sets the counts of a slot; n is 0 to clear them. Each token is below
 * token_limit and occurs once. They change only here and by RK_ROW_OBSERVE. */
RK_API int32_t rk_set_counts(rk_engine *e, int32_t slot, const rk_count *counts, int32_t n);

/* Copies the counts of a slot, in ascending order of tokens: at most size of
 * them; *n is how many there are. */
RK_API int32_t rk_get_counts(rk_engine *e, int32_t slot, rk_count *dst, int32_t size, int32_t *n);

/* Sets the tokens that RK_MODE_PIP counts with weight 0. */
RK_API int32_t rk_set_exempt(rk_engine *e, const int32_t *tokens, int32_t n);

/* ---- figures ------------------------------------------------------------ */

/* Bytes that an engine occupies on the device. */
typedef struct rk_memory {
    int64_t weights;
    int64_t states;  /* the slot pool with counts */
    int64_t scratch; /* activations, logits, workspaces */
    int64_t pinned;  /* on the host */
} rk_memory;         /* 32 bytes */

RK_API int32_t rk_memory_info(rk_engine *e, rk_memory *memory);

/* Of the last step. Times are in milliseconds. */
typedef struct rk_timing {
    double device;  /* from the first kernel to the last, on the device */
    double submit;  /* the caller's time until the step was queued */
    double wait;    /* the caller's time from there until the results were there */
    int64_t steps;  /* since rk_ready */
    int64_t graphs; /* of these, by a captured graph */
    int32_t rows;   /* of that step */
    int32_t tokens; /* of that step */
    int32_t bucket; /* rows of the graph it ran in; 0 if it ran without */
    int32_t pad;
} rk_timing;        /* 56 bytes */

RK_API int32_t rk_timing_info(rk_engine *e, rk_timing *timing);

#ifdef __cplusplus
}
#endif

#endif
