/* The slots of fake.c, their states and counts. */

static int32_t check_slot(rk_engine *e, int32_t slot)
{
    if (e->lost)
        return fail(RK_ERR_DEVICE, "an earlier call failed");
    if (slot < 0 || slot >= e->options.slots)
        return fail(RK_ERR_ARGUMENT, "slot %d of %d", slot, e->options.slots);
    return RK_OK;
}

RK_API int32_t rk_read_slot(rk_engine *e, int32_t slot, float *dst)
{
    int32_t status = check_slot(e, slot);
    if (!status)
        memcpy(dst, e->states[slot], (size_t)e->state_len * sizeof *dst);
    return status;
}

RK_API int32_t rk_read_slot_beside(rk_engine *e, int32_t slot, float *dst) { return rk_read_slot(e, slot, dst); }

RK_API int32_t rk_write_slot(rk_engine *e, int32_t slot, const float *src)
{
    int32_t status = check_slot(e, slot);
    if (!status)
        memcpy(e->states[slot], src, (size_t)e->state_len * sizeof *src);
    return status;
}

RK_API int32_t rk_copy_slot(rk_engine *e, int32_t dst, int32_t src)
{
    int32_t status = check_slot(e, dst);
    if (!status)
        status = check_slot(e, src);
    if (!status)
        memmove(e->states[dst], e->states[src], (size_t)e->state_len * sizeof(float));
    return status;
}

RK_API int32_t rk_zero_slot(rk_engine *e, int32_t slot)
{
    int32_t status = check_slot(e, slot);
    if (!status)
        memset(e->states[slot], 0, (size_t)e->state_len * sizeof(float));
    return status;
}

RK_API int32_t rk_set_counts(rk_engine *e, int32_t slot, const rk_count *counts, int32_t n)
{
    int32_t status = check_slot(e, slot);
    if (status)
        return status;
    memory *m = &e->memories[slot];
    memset(m->seen, 0, (size_t)e->shape.vocab);
    memset(m->n, 0, (size_t)e->shape.vocab * sizeof *m->n);
    memset(m->first, 0, (size_t)e->shape.vocab * sizeof *m->first);
    for (int32_t i = 0; i < n; i++) {
        if (counts[i].token < 0 || counts[i].token >= e->options.token_limit || m->seen[counts[i].token])
            return fail(RK_ERR_ARGUMENT, "count %d is of token %d", i, counts[i].token);
        m->seen[counts[i].token] = 1;
        m->n[counts[i].token] = counts[i].n;
        m->first[counts[i].token] = counts[i].first;
    }
    e->counts_sent++;
    return RK_OK;
}

RK_API int32_t rk_get_counts(rk_engine *e, int32_t slot, rk_count *dst, int32_t size, int32_t *n)
{
    int32_t status = check_slot(e, slot);
    if (status)
        return status;
    memory *m = &e->memories[slot];
    *n = 0;
    for (int32_t i = 0; i < e->shape.vocab; i++) {
        if (!m->seen[i])
            continue;
        if (*n < size)
            dst[*n] = (rk_count){i, m->n[i], m->first[i]};
        ++*n;
    }
    return RK_OK;
}

RK_API int32_t rk_set_exempt(rk_engine *e, const int32_t *tokens, int32_t n)
{
    memset(e->exempt, 0, (size_t)e->shape.vocab);
    for (int32_t i = 0; i < n; i++) {
        if (tokens[i] < 0 || tokens[i] >= e->options.token_limit)
            return fail(RK_ERR_ARGUMENT, "exempt token %d", tokens[i]);
        e->exempt[tokens[i]] = 1;
    }
    return RK_OK;
}
