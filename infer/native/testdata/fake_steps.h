/* The steps of fake.c: checks of rows, rk_step, rk_read_logits. */

static void *copied(void *old, const void *src, size_t bytes)
{
    free(old);
    void *p = malloc(bytes + 1);
    if (bytes)
        memcpy(p, src, bytes);
    return p;
}

static int32_t check_row(rk_engine *e, const rk_row *rows, int32_t i, const int32_t *tokens, int32_t n_tokens, const int32_t *bans, int32_t n_bans)
{
    const rk_row *r = &rows[i];
    if (r->slot < 0 || r->slot >= e->options.slots)
        return fail(RK_ERR_ARGUMENT, "row %d: slot %d of %d", i, r->slot, e->options.slots);
    for (int32_t j = 0; j < i; j++)
        if (rows[j].slot == r->slot)
            return fail(RK_ERR_ARGUMENT, "row %d: slot %d is twice in the step", i, r->slot);
    if (r->adapter < 0 || r->adapter > RK_ADAPTERS_MAX || (r->adapter && !e->adapters[r->adapter]))
        return fail(RK_ERR_ARGUMENT, "row %d: adapter %d is not loaded", i, r->adapter);
    if (r->token_count < 1 || r->token_offset < 0 || r->token_offset + r->token_count > n_tokens)
        return fail(RK_ERR_ARGUMENT, "row %d: %d tokens at %d of %d", i, r->token_count, r->token_offset, n_tokens);
    for (int32_t j = 0; j < r->token_count; j++)
        if (tokens[r->token_offset + j] < 0 || tokens[r->token_offset + j] >= e->shape.vocab)
            return fail(RK_ERR_ARGUMENT, "row %d: token %d", i, tokens[r->token_offset + j]);
    if (r->ban_count < 0 || r->ban_offset < 0 || r->ban_offset + r->ban_count > n_bans)
        return fail(RK_ERR_ARGUMENT, "row %d: %d bans at %d of %d", i, r->ban_count, r->ban_offset, n_bans);
    for (int32_t j = 0; j < r->ban_count; j++)
        if (bans[r->ban_offset + j] < 0 || bans[r->ban_offset + j] >= e->options.token_limit)
            return fail(RK_ERR_ARGUMENT, "row %d: banned token %d", i, bans[r->ban_offset + j]);
    if (r->members < 0 || r->members > RK_MEMBERS_MAX || (r->members && !(r->flags & RK_ROW_DRAW)))
        return fail(RK_ERR_ARGUMENT, "row %d: %d members", i, r->members);
    if (r->top < 0 || r->top > RK_TOP_MAX || (r->top && !(r->flags & RK_ROW_DRAW)))
        return fail(RK_ERR_ARGUMENT, "row %d: %d candidates", i, r->top);
    return RK_OK;
}

static int32_t check_mix(const rk_row *rows, int32_t i, int32_t n_rows)
{
    if (rows[i].members > n_rows - 1 - i)
        return fail(RK_ERR_ARGUMENT, "row %d: %d members of %d rows", i, rows[i].members, n_rows - 1 - i);
    for (int32_t k = 1; k <= rows[i].members; k++)
        if (rows[i + k].members || (rows[i + k].flags & (RK_ROW_DRAW | RK_ROW_LOGITS)) != RK_ROW_LOGITS)
            return fail(RK_ERR_ARGUMENT, "row %d: it cannot be a member", i + k);
    return RK_OK;
}

#ifndef FAKE_WITHOUT_STEP
RK_API int32_t rk_step(rk_engine *e, const rk_row *rows, int32_t n_rows, const int32_t *tokens, int32_t n_tokens,
                       const int32_t *bans, int32_t n_bans, rk_result *results, rk_candidate *candidates)
{
    if (e->lost)
        return fail(RK_ERR_DEVICE, "an earlier call failed");
    if (n_rows < 1 || n_rows > e->options.max_rows || n_tokens > e->options.max_tokens)
        return fail(RK_ERR_ARGUMENT, "%d rows and %d tokens", n_rows, n_tokens);
    for (int32_t i = 0; i < n_rows; i++) {
        int32_t status = check_row(e, rows, i, tokens, n_tokens, bans, n_bans);
        if (!status)
            status = check_mix(rows, i, n_rows);
        if (status)
            return status;
    }
    e->n_rows = n_rows;
    e->n_tokens = n_tokens;
    e->n_bans = n_bans;
    e->rows = copied(e->rows, rows, (size_t)n_rows * sizeof *rows);
    e->tokens = copied(e->tokens, tokens, (size_t)n_tokens * sizeof *tokens);
    e->bans = copied(e->bans, bans, (size_t)n_bans * sizeof *bans);
    if (++e->steps == setting("FAKE_LOST", -1)) {
        e->lost = 1;
        return fail(RK_ERR_DEVICE, "an illegal memory access was encountered");
    }
    for (int32_t i = 0; i < n_rows; i++) {
        const rk_row *r = &rows[i];
        float *logits = e->logits + (size_t)i * (size_t)e->shape.vocab;
        for (int32_t j = 0; j < r->token_count; j++)
            read_token(e->states[r->slot], tokens[r->token_offset + j]);
        memset(&results[i], 0, sizeof results[i]);
        fill_logits(e->states[r->slot], r->adapter ? e->adapters[r->adapter] : 0, logits, e->shape.vocab);
    }
    for (int32_t i = 0; i < n_rows; i++) {
        const rk_row *r = &rows[i];
        const float *logits = e->logits + (size_t)i * (size_t)e->shape.vocab;
        if (r->flags & RK_ROW_DRAW) {
            (r->members ? draw_mix : draw)(e, r, logits, bans, &results[i], candidates);
            candidates += r->top;
        }
        if (e->steps == setting("FAKE_NAN", -1))
            results[i].flags |= RK_RESULT_NAN;
    }
    return RK_OK;
}
#endif

RK_API int32_t rk_read_logits(rk_engine *e, int32_t row, float *dst)
{
    if (e->lost)
        return fail(RK_ERR_DEVICE, "an earlier call failed");
    if (row < 0 || row >= e->n_rows || !(e->rows[row].flags & (RK_ROW_DRAW | RK_ROW_LOGITS)))
        return fail(RK_ERR_ARGUMENT, "row %d has no logits", row);
    memcpy(dst, e->logits + (size_t)row * (size_t)e->shape.vocab, (size_t)e->shape.vocab * sizeof *dst);
    return RK_OK;
}
