"""Makes the GGUF files beside it with the public gguf package: python make_gguf.py.

model.gguf holds the model of make.py as llama.cpp's converter lays it out, and a
vocabulary. types.gguf holds random blocks of each packed type as layer i's
channel_mix_key, and what the gguf package makes of them as its channel_mix_value."""
import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

import make

LORA = ("w1", "w2", "a1", "a2", "v1", "v2", "g1", "g2")
PACKED = [T.Q8_0, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q2_K, T.Q3_K, T.Q4_K, T.Q5_K, T.Q6_K, T.IQ4_NL]
SCALES = {T.Q2_K: [80, 82], T.Q3_K: [108], T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.Q4_1: [0, 2], T.Q5_1: [0, 2]}


def header(path, layers):
    w = gguf.GGUFWriter(path, "rwkv7")
    w.add_name("RWKV7 G1 tiny 20250101")
    w.add_embedding_length(make.C)
    w.add_block_count(layers)
    w.add_feed_forward_length(make.F)
    w.add_layer_norm_eps(1e-5)
    w.add_wkv_head_size(make.N)
    w.add_head_count(0)
    return w


def model():
    w = header("model.gguf", make.L)
    tokens = [b"<s>", b"a", b"\\n", b"\\\\", b"\\'\\xe4\\xb8", b"[PAD5]"]
    w.add_tokenizer_model("rwkv")
    w.add_token_list(tokens)
    w.add_token_types([1] * len(tokens))
    w.add_chat_template("rwkv-world")
    z = {k: v.numpy().astype(np.float32) for k, v in make.model().items()}
    outside = {"emb": "token_embd", "ln_out": "output_norm", "head": "output"}
    plain = {"ln1": "attn_norm", "ln2": "attn_norm_2", "att.ln_x": "time_mix_ln"}
    for k, v in z.items():
        p = k.split(".")
        if p[0] != "blocks":
            w.add_tensor(f"{outside[p[0]]}.{p[1]}", v)
            continue
        b, name, kind = f"blk.{p[1]}.", ".".join(p[2:-1]), p[-1]
        if name == "ln0":
            w.add_tensor(f"token_embd_norm.{kind}", v)
        elif name in plain:
            w.add_tensor(f"{b}{plain[name]}.{kind}", v)
        elif k.endswith("att.x_r"):
            fused = np.stack([z[k[:-1] + x].reshape(1, 1, make.C) for x in "rwkvag"])
            w.add_tensor(b + "time_mix_lerp_fused.weight", fused)
        elif p[2] == "att" and kind.startswith("x_"):
            continue
        elif kind in LORA:
            w.add_tensor(f"{b}time_mix_{kind}.weight", np.ascontiguousarray(v.T))
            if p[1] == "0" and kind in ("a1", "a2"):
                w.add_tensor(f"{b}time_mix_v{kind[1]}.weight", np.ascontiguousarray(v.T))
        elif kind == "x_k":
            w.add_tensor(b + "channel_mix_lerp_k.weight", v)
        elif p[2] == "ffn":
            w.add_tensor(f"{b}channel_mix_{p[3]}.weight", v.astype(np.float16))
        elif kind == "weight":
            w.add_tensor(f"{b}time_mix_{p[3]}.weight", v.astype(np.float16))
        else:
            w.add_tensor(f"{b}time_mix_{kind}.weight", v.reshape(-1))
            if p[1] == "0" and kind == "a0":
                w.add_tensor(b + "time_mix_v0.weight", v.reshape(-1))
    close(w)


def types():
    w = header("types.gguf", len(PACKED))
    r = np.random.default_rng(1)
    for i, t in enumerate(PACKED):
        per, size = gguf.GGML_QUANT_SIZES[t]
        blocks = r.integers(0, 256, (512 // per, size), dtype=np.uint8)
        for at in SCALES.get(t, [0]):
            scale = r.normal(0, 0.01, len(blocks)).astype(np.float16)
            blocks[:, at:at + 2] = scale.reshape(-1, 1).view(np.uint8)
        rows = blocks.reshape(2, -1)
        w.add_tensor(f"blk.{i}.channel_mix_key.weight", rows, raw_dtype=t)
        w.add_tensor(f"blk.{i}.channel_mix_value.weight", gguf.dequantize(rows, t).astype(np.float32))
    close(w)


def close(w):
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


model()
types()
