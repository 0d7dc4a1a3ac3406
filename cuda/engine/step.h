// step.h: turns the caller's rows into a pass, runs it, and returns its results.
//
// The host and the device exchange a step through pinned buffers. Where every row has one
// token, the device reads and writes them itself and sets a flag when the results are
// complete; copies and events would take longer than a draw. Such a step is replayed from
// the graph of its bucket: the least number of rows, not below its own, that a graph is
// made for. Rows that fill up a bucket have the spare slot and draw nothing.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/forward.h"

struct Rows { // the arguments of rk_step
    const rk_row *rows;
    int n_rows;
    const int32_t *tokens;
    int n_tokens;
    const int32_t *bans;
    int n_bans;
};

class Steps {
  public:
    Steps(const Model &model, const rk_options &options, Slots &slots, Arena &arena, int64_t *scratch, int64_t *pinned);
    Steps(const Steps &) = delete;
    Steps &operator=(const Steps &) = delete;
    ~Steps();

    Products &products() { return products_; }

    // Captures the graphs of all buckets, again if there are some.
    void capture();

    // Measures matrix products at the numbers of tokens that steps have.
    void tune(double seconds);

    void step(const Rows &rows, rk_result *results, rk_candidate *candidates);
    void read_logits(int row, float *dst);
    void set_exempt(const int32_t *tokens, int n);
    void fill(rk_timing *timing);

    Adapters &adapters() { return adapters_; }
    void drop_adapter(int id);

  private:
    struct Buffers { // pinned memory, and what is known of the step
        RowInput *input;
        int32_t *token_ids, *row_of, *output_row, *bans;
        rk_result *results;
        rk_candidate *candidates;
        uint32_t *finished; // set by the device when the results are complete
        Event begin{true}, end{true};
        std::vector<int> output_of; // each row's output, or -1
        int tops = 0;               // candidates asked for
        int bans_used = 0;
        ChunkTile *chunk_tiles;
        ChunkRow *chunk_rows;
        int chunk_tile_count = 0, chunk_row_count = 0;
        int tokens = 0, bucket = 0;
        bool draws = false; // the device will set `finished`
        bool mixes = false; // the step has a mix
        Adapted adapted = Adapted::No;
        AdapterTile *adapter_tiles;
        int adapter_tile_count = 0;
    };
    struct Graph;

    void check(const Rows &rows) const;
    void check_row(const Rows &rows, int i) const;
    void check_mix(const Rows &rows, int i) const;
    int bucket(int rows) const;
    void fill_rows(const Rows &rows, bool single);
    void add_chunks(int row);
    void add_adapter(int row, bool single);
    Pass pass(int rows, int tokens, bool single, int outputs) const;
    void upload(const Pass &p);
    const Graph &graph(int bucket, bool mixes, Adapted adapted);
    void submit(const Rows &rows);
    void wait() const;

    const Model &model_;
    const rk_options options_;
    Slots &slots_;
    const int64_t row_room_, token_room_;
    Stream stream_;
    Products products_;
    Adapters adapters_;
    Activations act_ = {};
    DrawScratch draw_ = {};

    Buffers buffers_;
    // on the device: copies of what is pinned
    RowInput *input_;
    int32_t *row_slot_, *token_ids_, *row_of_, *output_row_, *bans_;
    ChunkTile *chunk_tiles_;
    ChunkRow *chunk_rows_;
    void *chunk_records_;
    AdapterTile *adapter_tiles_;

    bool untimed_ = false; // the last step's device time was not asked for yet
    // By bucket, whether there are mixes, and what adapters change.
    std::map<std::tuple<int, bool, Adapted>, std::unique_ptr<Graph>> graphs_;
    float *logits_staging_; // pinned [V]
    rk_timing timing_ = {};
};
