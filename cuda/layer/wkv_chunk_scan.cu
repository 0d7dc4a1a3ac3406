// wkv_chunk_scan.cu: goes through the tiles of a row in order, with the records that
// prepare_chunks wrote (wkv_chunk.h has the maths).
//
// A block has one head of one row. Its first four warps keep 16 value rows of S each. The
// other four copy records to shared memory, some tiles ahead, and finish the outputs of
// the tile before: y = (GN(Y) + bonus v) ⊙ g.
//
// One head of a long row takes long, and a model of few heads leaves most of a large card
// idle. Its rows are cut into segments. A segment changes the state to S' = S T + C. carry
// computes C (from S = 0) and T (from S = 1, without values) of all segments but the last
// at once; chain combines them to the states between segments; scan then goes through all
// segments at once. How a row is cut depends on its length and the number of heads alone.
#include "layer/element.h"
#include "layer/wkv_chunk_step.h"

using namespace chunk;

namespace {

constexpr int kScanThreads = kChunkHead / 16 * kWarp, kFinishThreads = kChunkTokens * kChunkHead / 8;
constexpr int kThreads = kScanThreads + kFinishThreads;
constexpr int kStages = 4; // records in shared memory: one to finish, one to apply, two under way
constexpr int kStateSize = kChunkHead * kChunkHead;
constexpr float kHeadEps = 64e-5f;

template <typename Record> struct Shared {
    Record record[kStages];
    uint4 gate[kStages][kFinishThreads];        // g of eight values, by the thread that finishes them
    Outputs y[2];                          // of even and odd tiles
    float weight[kChunkHead], bias[kChunkHead]; // of the head norm
};

// ---- segments ---------------------------------------------------------------

constexpr int kLeastSegment = 32, kWhole = 1 << 30;

// Tiles of a segment.
int segment_tiles(int heads) { return heads <= 16 ? kLeastSegment : heads <= 40 ? 2 * kLeastSegment : kWhole; }

// For each segment S at kStateScale after it (before chain: C), and T (for a row's first
// segment: the state before it).
struct Carry {
    float s[kStateSize], t[kStateSize];
};

struct Segments {
    int tiles; // of each but the last of a row
    Carry *carries;

    __device__ int count(const ChunkRow &row) const { return ((row.count + kChunkTokens - 1) / kChunkTokens + tiles - 1) / tiles; }
    // The entry of segment z, which is not the row's last one. Such segments are whole, so that
    // no two share an entry.
    __device__ Carry &carry(const ChunkMix &m, const ChunkRow &row, int z, int head) const {
        return carries[(int64_t)(row.tile / tiles + z) * m.heads + head];
    }
};

// ---- outputs ----------------------------------------------------------------

// A thread finishes eight values of one slot of each tile. Addresses are computed anew for
// each tile, because S needs the registers.
template <typename E, typename Record> struct Finisher {
    const ChunkMix &m;
    const int head, thread, slot, piece;
    const int first, end, tile; // tokens of the pass from first to end-1; number of the first tile

    __device__ Finisher(const ChunkMix &m_, int head_, int first_, int end_, int tile_, int thread_)
        : m(m_), head(head_), thread(thread_), slot(thread_ / 8), piece(thread_ % 8), first(first_), end(end_), tile(tile_) {}

    __device__ int token(int n) const { return first + n * kChunkTokens + token_of(slot); }
    __device__ int64_t element(int n) const { return ((int64_t)token(n) * m.heads + head) * kChunkHead + 8 * piece; }

    // Starts copying the record and gate of tile n.
    template <bool kOutputs> __device__ void copy(int n, Record &record, uint4 (&gate)[kFinishThreads]) const {
        constexpr int pieces = sizeof(Record) / 16;
        uint4 *to = reinterpret_cast<uint4 *>(&record) + thread;
        const uint4 *from = reinterpret_cast<const uint4 *>(static_cast<const Record *>(m.records) + (int64_t)(tile + n) * m.heads + head) + thread;
#pragma unroll
        for (int i = 0; i < pieces; i += kFinishThreads)
            if (i + kFinishThreads <= pieces || i + thread < pieces) copy16(to + i, from + i);
        if (kOutputs && m.gate && token(n) < end) copy16(&gate[thread], static_cast<const E *>(m.gate) + element(n));
    }

    __device__ void finish(int n, const Record &r, const Outputs &outputs, const uint4 &gate, const Shared<Record> &shared) const {
        float y[8], sum = 0, squares = 0;
        load8(y, &outputs[slot][8 * piece]);
#pragma unroll
        for (int e = 0; e < 8; e++) sum += y[e];
#pragma unroll
        for (int e = 0; e < 8; e++) squares += (y[e] - sum / 8) * (y[e] - sum / 8);
        // Sum, and sum of squared distances from the mean, over ever more values.
#pragma unroll
        for (int lanes = 1; lanes < 8; lanes *= 2) {
            const float other = SHFL_XOR(sum, lanes), away = sum - other;
            squares += SHFL_XOR(squares, lanes) + away * away * (1.0f / (16 * lanes));
            sum += other;
        }
        const float mean = sum / kChunkHead, scale = rsqrtf(squares / kChunkHead + kHeadEps * kStateScale * kStateScale);
        if (token(n) >= end) return;
        float weight[8], bias[8], gated[8];
        load8(weight, &shared.weight[8 * piece]);
        load8(bias, &shared.bias[8 * piece]);
        unpack8<E>(gated, gate);
        if constexpr (kIsDelta<Record>) {
            float v[8] = {};
            unpack8<half>(v, r.v[0].piece[slot][ChunkImage::place(slot, piece)]);
            if (kTermsV == 2) {
                float low[8];
                unpack8<half>(low, r.v[kTermsV - 1].piece[slot][ChunkImage::place(slot, piece)]);
#pragma unroll
                for (int e = 0; e < 8; e++) v[e] += low[e];
            }
            const float bonus = r.bonus[slot] * (1.0f / kStateScale);
#pragma unroll
            for (int e = 0; e < 8; e++) gated[e] *= (y[e] - mean) * scale * weight[e] + bias[e] + bonus * v[e];
        } else {
#pragma unroll
            for (int e = 0; e < 8; e++) gated[e] = (m.gate ? gated[e] * sigmoid(gated[e]) : 1.0f) * ((y[e] - mean) * scale * weight[e] + bias[e]);
        }
        *reinterpret_cast<uint4 *>(static_cast<E *>(m.y) + element(n)) =
            make_uint4(pack<E>(gated[0], gated[1]), pack<E>(gated[2], gated[3]), pack<E>(gated[4], gated[5]), pack<E>(gated[6], gated[7]));
    }

  private:
    template <typename T> static __device__ void unpack8(float (&f)[8], const uint4 &bits) {
        unpack<T>(bits.x, f[0], f[1]);
        unpack<T>(bits.y, f[2], f[3]);
        unpack<T>(bits.z, f[4], f[5]);
        unpack<T>(bits.w, f[6], f[7]);
    }
};

// ---- kernels ----------------------------------------------------------------

// Applies the tiles of a row in order, as the finisher copies them to shared memory.
template <bool kOutputs, typename E, typename Record>
__device__ inline void go_through(State &state, const Finisher<E, Record> &finisher, int tiles, bool values, Shared<Record> &shared) {
    const bool scans = threadIdx.x < kScanThreads;
    auto copy = [&](int n) { // an empty group beyond the last tile
        if (n < tiles) finisher.template copy<kOutputs>(n, shared.record[n % kStages], shared.gate[n % kStages]);
        commit_copies();
    };
    if (!scans)
        for (int n = 0; n < kStages - 2; n++) copy(n);
    // When round n begins, the records of tiles up to n have arrived. The round applies tile
    // n, finishes tile n-1 and starts the copy of n+kStages-2 to the place of n-2.
    for (int n = 0; n < tiles + kOutputs; n++) {
        if (!scans) wait_copies<kStages - 3>();
        __syncthreads();
        if (scans) {
            if (n < tiles) step_tile<kOutputs>(state, shared.record[n % kStages], shared.y[n % 2], values);
        } else {
            copy(n + kStages - 2);
            if (kOutputs && n > 0) {
                const int last = (n - 1) % kStages;
                finisher.finish(n - 1, shared.record[last], shared.y[(n - 1) % 2], shared.gate[last][finisher.thread], shared);
            }
        }
    }
}

// The part of a row that a block has.
template <typename S> struct Piece {
    ChunkRow row;
    int slot, head, count, z; // segment z of count

    __device__ Piece(const ChunkMix &m, const Segments &segments, int z_)
        : row(m.rows[blockIdx.y]), slot(m.row_slot[row.row]), head(blockIdx.x), count(segments.count(row)), z(z_) {}

    __device__ S *state(const ChunkMix &m) const { return static_cast<S *>(m.state) + ((int64_t)slot * m.heads + head) * kStateSize; }

    template <typename E, typename Record> __device__ Finisher<E, Record> finisher(const ChunkMix &m, const Segments &segments) const {
        const int tile = z * segments.tiles;
        return Finisher<E, Record>(m, head, row.first + tile * kChunkTokens, row.first + row.count, row.tile + tile, threadIdx.x % kFinishThreads);
    }
};

// grid (heads, rows of the table, segments): outputs, and the state after the row.
template <typename E, typename S, typename Record> __global__ void __launch_bounds__(kThreads, 2) scan(ChunkMix m, Segments segments) {
    extern __shared__ uint4 memory[];
    auto &shared = *reinterpret_cast<Shared<Record> *>(memory);
    const bool scans = threadIdx.x < kScanThreads;
    State state;
    {
        const Piece<S> piece(m, segments, blockIdx.z);
        if (piece.slot == m.spare || piece.z >= piece.count) return;
        if (threadIdx.x < kChunkHead) {
            shared.weight[threadIdx.x] = m.gn_weight[piece.head * kChunkHead + threadIdx.x];
            shared.bias[threadIdx.x] = m.gn_bias[piece.head * kChunkHead + threadIdx.x];
        }
        if (scans && piece.count == 1)
            state.load(piece.state(m), kStateScale);
        else if (scans)
            state.load(piece.z == 0 ? segments.carry(m, piece.row, 0, piece.head).t : segments.carry(m, piece.row, piece.z - 1, piece.head).s, 1);
        const int tiles = min((piece.row.count + kChunkTokens - 1) / kChunkTokens - piece.z * segments.tiles, segments.tiles);
        go_through<true>(state, piece.template finisher<E, Record>(m, segments), tiles, true, shared);
    }
    const Piece<S> piece(m, segments, blockIdx.z); // computed anew: the loop needs the registers
    if (scans && piece.z == piece.count - 1) state.store(piece.state(m), 1 / kStateScale);
}

// grid (heads, rows of the table, 2 * segments): C and T of all segments but a row's last.
template <typename E, typename S, typename Record> __global__ void __launch_bounds__(kThreads, 2) carry(ChunkMix m, Segments segments) {
    extern __shared__ uint4 memory[];
    auto &shared = *reinterpret_cast<Shared<Record> *>(memory);
    const Piece<S> piece(m, segments, blockIdx.z / 2);
    const bool values = blockIdx.z % 2 == 0, scans = threadIdx.x < kScanThreads;
    if (piece.slot == m.spare || piece.z + 1 >= piece.count || (piece.z == 0 && !values)) return;
    Carry &to = segments.carry(m, piece.row, piece.z, piece.head);
    State state = {};
    if (scans && piece.z == 0) {
        state.load(piece.state(m), kStateScale);
        state.store(to.t, 1);
    }
    if (!values) state.set_identity();
    go_through<false>(state, piece.template finisher<E, Record>(m, segments), segments.tiles, values, shared);
    if (scans) state.store(values ? to.s : to.t, 1);
}

// grid (heads, rows of the table, 4), one block has 16 value rows: computes S after each
// segment from C and T, but for the first, where it is C itself, and the last.
__global__ void __launch_bounds__(256) chain(ChunkMix m, Segments segments) {
    __shared__ float4 t[kChunkHead][kChunkHead / 4];
    __shared__ float s[16][kChunkHead];
    const ChunkRow row = m.rows[blockIdx.y];
    const int head = blockIdx.x, value = threadIdx.x / 16, keys = threadIdx.x % 16, count = segments.count(row);
    if (m.row_slot[row.row] == m.spare || count < 3) return;
    const int at = (16 * blockIdx.z + value) * (kChunkHead / 4) + keys;
    float4 sum = reinterpret_cast<const float4 *>(segments.carry(m, row, 0, head).s)[at];
    for (int z = 1; z + 1 < count; z++) {
        Carry &c = segments.carry(m, row, z, head);
        const float4 *from = reinterpret_cast<const float4 *>(c.t);
        __syncthreads();
        *reinterpret_cast<float4 *>(&s[value][4 * keys]) = sum;
#pragma unroll
        for (int i = 0; i < 4; i++) t[16 * i + value][keys] = from[(16 * i + value) * (kChunkHead / 4) + keys];
        sum = reinterpret_cast<const float4 *>(c.s)[at];
        __syncthreads();
#pragma unroll 16
        for (int k = 0; k < kChunkHead; k++) {
            const float x = s[value][k];
            const float4 y = t[k][keys];
            sum.x += x * y.x;
            sum.y += x * y.y;
            sum.z += x * y.z;
            sum.w += x * y.w;
        }
        reinterpret_cast<float4 *>(c.s)[at] = sum;
    }
}

template <typename E, typename S, typename Record> void launch(const ChunkMix &m, gpuStream stream) {
    Segments segments{segment_tiles(m.heads), nullptr};
    segments.carries = reinterpret_cast<Carry *>(static_cast<Record *>(m.records) + (int64_t)m.tile_count * m.heads);
    const int most = (int)ceil_div(m.tile_count, segments.tiles); // of a row
    if (most > 1) {
        allow_shared(carry<E, S, Record>, sizeof(Shared<Record>));
        carry<E, S, Record><<<dim3(m.heads, m.row_count, 2 * (most - 1)), kThreads, sizeof(Shared<Record>), stream>>>(m, segments);
        if (most > 2) chain<<<dim3(m.heads, m.row_count, 4), 256, 0, stream>>>(m, segments);
    }
    allow_shared(scan<E, S, Record>, sizeof(Shared<Record>));
    scan<E, S, Record><<<dim3(m.heads, m.row_count, most), kThreads, sizeof(Shared<Record>), stream>>>(m, segments);
}

template <typename E, typename Record> void launch(const ChunkMix &m, gpuStream stream) {
    if (m.state_half)
        launch<E, half, Record>(m, stream);
    else
        launch<E, float, Record>(m, stream);
}

} // namespace

// The bytes of the larger record, and of its share of a carry.
int64_t chunk_record_bytes() { return sizeof(ChunkRecord) + sizeof(Carry) / kLeastSegment; }

void scan_chunks(const ChunkMix &m, gpuStream stream) {
    if (m.decay)
        (m.bf16 ? launch<bf16, DecayRecord> : launch<half, DecayRecord>)(m, stream);
    else
        (m.bf16 ? launch<bf16, ChunkRecord> : launch<half, ChunkRecord>)(m, stream);
}

void mix_chunks(const ChunkMix &m, gpuStream stream) {
    if (m.tile_count == 0) return;
    (m.decay ? prepare_decay_chunks : prepare_chunks)(m, stream);
    scan_chunks(m, stream);
}
