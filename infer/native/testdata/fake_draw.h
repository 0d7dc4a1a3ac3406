/* The model of fake.c and its draws. */

/* ---- the model ------------------------------------------------------------ */

static uint64_t hash_of(const float *s)
{
    return (uint64_t)s[0] | (uint64_t)s[1] << 16 | (uint64_t)s[2] << 32 | (uint64_t)s[3] << 48;
}

static void read_token(float *s, int32_t id)
{
    uint64_t x = (hash_of(s) ^ (uint64_t)id << 32 ^ (uint64_t)id) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    for (int i = 0; i < 4; i++)
        s[i] = (float)(x >> (16 * i) & 0xffff);
}

static void fill_logits(const float *s, uint64_t adapter, float *logits, int32_t vocab)
{
    uint64_t h = hash_of(s) ^ adapter;
    for (int32_t i = 0; i < vocab; i++) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        logits[i] = (float)(h >> 40) / (1 << 22);
    }
}

/* ---- the draw: infer/sampler without truncation ---------------------------- */

static uint64_t philox(uint64_t seed, uint64_t n)
{
    uint32_t c[4] = {(uint32_t)n, (uint32_t)(n >> 32), 0, 0}, k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int i = 0; i < 10; i++) {
        uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
        memcpy(c, next, sizeof c);
        k[0] += 0x9E3779B9;
        k[1] += 0xBB67AE85;
    }
    return c[0] | (uint64_t)c[1] << 32;
}

static uint64_t mass(float z, float m, float scale)
{
    float y = (z - m) * scale;
    if (!(y > -64))
        y = -64;
    float t = y + 12582912.0f, f = y - (t - 12582912.0f), p;
    p = 0x1.41fbc2p-13f * f + 0x1.5f3e54p-10f;
    p = p * f + 0x1.3b2d4cp-07f;
    p = p * f + 0x1.c6aee8p-05f;
    p = p * f + 0x1.ebfbdcp-03f;
    p = p * f + 0x1.62e430p-01f;
    p = p * f + 1;
    uint32_t bits, shift;
    memcpy(&bits, &p, 4);
    memcpy(&shift, &t, 4);
    bits += shift << 23;
    memcpy(&p, &bits, 4);
    return (uint64_t)nearbyint((double)p * 0x1p44);
}

static float penalty(const rk_row *r, const memory *m, int32_t id)
{
    if (r->mode == RK_MODE_RAPID)
        return r->presence * m->first[id] + r->frequency * (m->n[id] - m->first[id]);
    return r->presence + r->frequency * m->n[id];
}

static void observe(rk_engine *e, const rk_row *r, memory *m, int32_t token)
{
    for (int32_t i = 0; i < e->shape.vocab; i++) {
        m->n[i] = m->n[i] * r->decay < 0x1p-64f ? 0 : m->n[i] * r->decay;
        m->first[i] = m->first[i] * r->decay < 0x1p-64f ? 0 : m->first[i] * r->decay;
    }
    float weight = r->mode == RK_MODE_PIP && e->exempt[token] ? 0 : 1;
    if (!m->seen[token])
        m->first[token] = weight;
    m->seen[token] = 1;
    m->n[token] += weight;
}

static void add_candidates(const float *logits, const uint64_t *masses, uint64_t total, double norm, int32_t limit, int32_t top, rk_candidate *out)
{
    uint8_t *used = calloc((size_t)limit, 1);
    for (int32_t k = 0; k < top && k < limit; k++) {
        int32_t best = -1;
        for (int32_t i = 0; i < limit; i++)
            if (!used[i] && (best < 0 || logits[i] > logits[best]))
                best = i;
        used[best] = 1;
        out[k] = (rk_candidate){best, (float)(logits[best] - norm), total ? (float)((double)masses[best] / (double)total) : 0};
    }
    free(used);
}

static void draw(rk_engine *e, const rk_row *r, const float *logits, const int32_t *bans, rk_result *out, rk_candidate *top)
{
    int32_t limit = e->options.token_limit, best = -1;
    memory *seen = &e->memories[r->slot];
    float *z = malloc((size_t)limit * sizeof *z);
    uint64_t *masses = calloc((size_t)limit, sizeof *masses), total = 0;
    memcpy(z, logits, (size_t)limit * sizeof *z);
    if (r->presence != 0 || r->frequency != 0)
        for (int32_t i = 0; i < limit; i++)
            if (seen->seen[i])
                z[i] -= penalty(r, seen, i);
    for (int32_t i = 0; i < r->ban_count; i++)
        z[bans[r->ban_offset + i]] = -INFINITY;
    double sum = 0;
    for (int32_t i = 0; i < limit; i++) {
        sum += exp((double)logits[i] - 4);
        if (z[i] > -INFINITY && (best < 0 || z[i] > z[best]))
            best = i;
    }
    double norm = 4 + log(sum);
    int greedy = r->temperature < 0.001f;
    float scale = greedy ? 0 : (float)(1.4426950408889634074 / (double)r->temperature);
    for (int32_t i = 0; best >= 0 && i < limit; i++) {
        masses[i] = greedy ? i == best : z[i] > -INFINITY ? mass(z[i], z[best], scale) : 0;
        total += masses[i];
    }
    *out = (rk_result){.token = 0, .log_prob = -INFINITY};
    if (total) {
        uint64_t rest = (uint64_t)((unsigned __int128)total * philox(r->seed, r->draw) >> 64);
        int32_t id = 0;
        for (; rest >= masses[id]; id++)
            rest -= masses[id];
        out->token = id;
        out->log_prob = (float)(logits[id] - norm);
    }
    out->candidates = r->top < limit ? r->top : limit;
    add_candidates(logits, masses, total, norm, limit, r->top, top);
    if (r->flags & RK_ROW_OBSERVE)
        observe(e, r, seen, out->token);
    free(z);
    free(masses);
}

/* The log-probability of a token under the softmax of a row's own logits. */
static float own_log_prob(const float *logits, int32_t limit, int32_t token)
{
    double sum = 0;
    for (int32_t i = 0; i < limit; i++)
        sum += exp((double)logits[i] - 4);
    return (float)(logits[token] - (4 + log(sum)));
}

static void draw_mix(rk_engine *e, const rk_row *r, const float *logits, const int32_t *bans, rk_result *out, rk_candidate *top)
{
    int32_t vocab = e->shape.vocab;
    float *z = malloc((size_t)vocab * sizeof *z);
    for (int32_t i = 0; i < vocab; i++)
        z[i] = r->weight * logits[i];
    for (int32_t k = 1; k <= r->members; k++)
        for (int32_t i = 0; r[k].weight != 0 && i < vocab; i++) {
            volatile float product = r[k].weight * logits[(size_t)k * (size_t)vocab + (size_t)i];
            z[i] += product;
        }
    draw(e, r, z, bans, out, top);
    for (int32_t k = 0; k <= r->members; k++)
        out[k].own_log_prob = own_log_prob(logits + (size_t)k * (size_t)vocab, e->options.token_limit, out->token);
    free(z);
}
