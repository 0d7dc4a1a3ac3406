// step.h: turns the caller's rows into a pass, runs it, and returns its results.
//
// A step in flight has pinned buffers of its own: the host fills those of one step while
// the device works on another. Where every row has one token, the device reads and writes
// the pinned buffers itself and sets a flag when the results are complete; copies and
// events would take longer than a draw. Such a step is replayed from the graph of its
// bucket: the least number of rows, not below its own, that a graph is made for. Rows
// that fill up a bucket have the spare slot and draw nothing.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/forward.h"

struct Rows { // the arguments of rk_submit
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

    void submit(const Rows &rows);
    void wait(rk_result *results, rk_candidate *candidates);
    void read_logits(int row, float *dst);
    void set_exempt(const int32_t *tokens, int n);
    void fill(rk_timing *timing);

    Adapters &adapters() { return adapters_; }
    void drop_adapter(int id);

  private:
    struct Flight { // a step in flight: its pinned buffers and what is known of it
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
        double submitted = 0;
    };
    struct Graph;

    void check(const Rows &rows) const;
    void check_row(const Rows &rows, int i) const;
    void check_mix(const Rows &rows, int i) const;
    int bucket(int rows) const;
    void fill_rows(const Rows &rows, Flight &flight, bool single);
    void add_chunks(int row, Flight &flight) const;
    void add_adapter(int row, Flight &flight, bool single) const;
    Pass pass(const Flight &flight, int rows, int tokens, bool single, int outputs) const;
    void upload(const Flight &flight, const Pass &p);
    const Graph &graph(int bucket, bool mixes, Adapted adapted, const Flight &flight);
    Flight &other(const Flight *flight) const { return *flights_[flight == flights_[0].get()]; }
    void await(const Flight &flight) const;

    const Model &model_;
    const rk_options options_;
    Slots &slots_;
    const int64_t row_room_, token_room_;
    Stream stream_;
    Products products_;
    Adapters adapters_;
    Activations act_ = {};
    DrawScratch draw_ = {};

    // on the device: copies of what a Flight has pinned
    RowInput *input_;
    int32_t *row_slot_, *token_ids_, *row_of_, *output_row_, *bans_;
    ChunkTile *chunk_tiles_;
    ChunkRow *chunk_rows_;
    void *chunk_records_;
    AdapterTile *adapter_tiles_;

    std::vector<std::unique_ptr<Flight>> flights_;
    int64_t submitted_ = 0, waited_ = 0;
    Flight *newest_ = nullptr;      // submitted last
    const Flight *timed_ = nullptr; // waited for last, if its device time was not asked for yet
    // By bucket, whether there are mixes, what adapters change, and the pinned buffers.
    std::map<std::tuple<int, bool, Adapted, const Flight *>, std::unique_ptr<Graph>> graphs_;
    float *logits_staging_; // pinned [V]
    rk_timing timing_ = {};
};
