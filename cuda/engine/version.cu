// version.cu: the table of versions, and the products that all of them have.
#include "engine/version.h"

const Version &find_version(int32_t number) {
    for (const Version *v : {&v4, &v50, &v51, &v52, &v6, &v7})
        if (v->number == number) return *v;
    fail(RK_ERR_ARGUMENT, "version %d of RWKV: this library cannot run it", number);
}

ProductSpecs product_specs(const Shape &s, int64_t room) {
    const int64_t c = s.embed;
    ProductSpecs specs{};
    specs[(int)Product::Output] = {c, c, 1, 0, 0, 0, false, true, true};
    specs[(int)Product::Key] = {s.ffn, c};
    specs[(int)Product::Value] = {c, s.ffn, 1, 0, 0, 0, true, true, true};
    specs[(int)Product::Head] = {s.vocab, c, 1, 0, 0, 0, false, false, true};
    s.version->products(s, room, specs);
    return specs;
}
