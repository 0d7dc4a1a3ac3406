"""rookery.h through ctypes."""
import ctypes as C

import numpy as np

F32, F16, BF16 = 0, 1, 2
RWKV, PIP, RAPID = 0, 1, 2
DRAW, OBSERVE, LOGITS = 1, 2, 4
TARGETS = ("att.receptance", "att.key", "att.value", "att.output", "ffn.key", "ffn.value", "att.gate", "ffn.receptance", "head")
EAGER, ONE_BUCKET, PORTABLE = 1, 2, 4
NAN = 1
SIZES = ("version", "layers", "embed", "heads", "head_size", "ffn", "vocab")

ROW = np.dtype([(n, np.int32) for n in ("slot", "token_offset", "token_count")] + [("flags", np.uint32)] +
               [(n, np.int32) for n in ("top", "ban_offset", "ban_count", "mode")] + [("temperature", np.float32), ("top_k", np.int32)] +
               [(n, np.float32) for n in ("top_p", "presence", "frequency", "decay")] + [("members", np.int32), ("weight", np.float32), ("adapter", np.int32), ("pad", np.int32), ("seed", np.uint64), ("draw", np.uint64)])
RESULT = np.dtype([("token", np.int32), ("log_prob", np.float32), ("candidates", np.int32), ("flags", np.uint32), ("own_log_prob", np.float32)])
CANDIDATE = np.dtype([("token", np.int32), ("log_prob", np.float32), ("prob", np.float32)])
COUNT = np.dtype([("token", np.int32), ("n", np.float32), ("first", np.float32)])
assert ROW.itemsize == 88 and RESULT.itemsize == 20


class Shape(C.Structure):
    _fields_ = [(n, C.c_int32) for n in SIZES] + [("ranks", C.c_int32 * 4)]


class Options(C.Structure):
    _fields_ = [(n, C.c_int32) for n in ("device", "weights", "state", "slots", "max_rows", "max_tokens", "token_limit")] + \
               [("flags", C.c_uint32), ("tuning", C.c_char_p)]


class Memory(C.Structure):
    _fields_ = [(n, C.c_int64) for n in ("weights", "states", "scratch", "pinned")]


class Timing(C.Structure):
    _fields_ = [(n, C.c_double) for n in ("device", "submit", "wait")] + [("steps", C.c_int64), ("graphs", C.c_int64)] + \
               [(n, C.c_int32) for n in ("rows", "tokens", "bucket", "pad")]


class Error(Exception):
    def __init__(self, status, message):
        super().__init__(f"{message} (status {status})")
        self.status, self.message = status, message


class Library:
    def __init__(self, path):
        self.so = C.CDLL(path)
        assert self.so.rk_abi_version() == 7

    def call(self, name, *args):
        status = getattr(self.so, name)(*args)
        if status:
            text = C.create_string_buffer(1024)
            self.so.rk_last_error(text, 1024)
            raise Error(status, text.value.decode())


def pointer(a):
    return None if a is None or a.size == 0 else C.c_void_p(a.ctypes.data)


class Engine:
    """weights yields (name, torch tensor on the CPU)."""

    def __init__(self, lib, shape, weights, kind=F16, state=F32, slots=8, max_rows=None, max_tokens=None, token_limit=None, flags=0, tuning=None):
        self.lib, self.shape, self.slots = lib, shape, slots
        self.max_rows = max_rows or slots
        self.max_tokens = max_tokens or max(self.max_rows, 64)
        s = Shape(*[shape[n] for n in SIZES], (C.c_int32 * 4)(*shape["ranks"]))
        o = Options(0, kind, state, slots, self.max_rows, self.max_tokens, token_limit or shape["vocab"], flags, tuning and tuning.encode())
        self.e = C.c_void_p()
        lib.call("rk_open", C.byref(s), C.byref(o), C.byref(self.e))
        for name, t in weights:
            self.load(name, t)
        self.call("rk_ready")
        self.state_len = shape["layers"] * shape["embed"] * (2 + (shape["head_size"] if shape["head_size"] > 1 else 3))

    def call(self, name, *args):
        self.lib.call(name, self.e, *args)

    def load(self, name, t):
        import torch
        kinds = {torch.float32: F32, torch.float16: F16, torch.bfloat16: BF16}
        t = t.contiguous()
        dims = (C.c_int64 * max(1, t.dim()))(*t.shape)
        self.call("rk_load", name.encode(), kinds[t.dtype], dims, t.dim(), C.c_void_p(t.data_ptr()), C.c_int64(t.numel() * t.element_size()))

    def close(self):
        if self.e:
            self.lib.so.rk_close(self.e)
            self.e = None

    def pack(self, rows):
        """rows: dicts of slot, tokens and what rk_row has."""
        table, tokens, bans = np.zeros(len(rows), ROW), [], []
        for i, r in enumerate(rows):
            table[i]["top_p"] = 1
            for key, value in r.items():
                if key == "tokens":
                    table[i]["token_offset"], table[i]["token_count"] = len(tokens), len(value)
                    tokens += list(value)
                elif key == "bans":
                    table[i]["ban_offset"], table[i]["ban_count"] = len(bans), len(value)
                    bans += list(value)
                else:
                    table[i][key] = value
        return table, np.array(tokens, np.int32), np.array(bans, np.int32)

    def run(self, table, tokens, bans):
        """A step of rows that pack has made."""
        results, candidates = np.zeros(len(table), RESULT), np.zeros(int(table["top"].sum()), CANDIDATE)
        self.call("rk_step", pointer(table), len(table), pointer(tokens), len(tokens), pointer(bans), len(bans), pointer(results), pointer(candidates))
        return results, candidates

    def step(self, rows):
        return self.run(*self.pack(rows))

    def logits(self, row):
        out = np.zeros(self.shape["vocab"], np.float32)
        self.call("rk_read_logits", row, pointer(out))
        return out

    def read(self, slot):
        out = np.zeros(self.state_len, np.float32)
        self.call("rk_read_slot", slot, pointer(out))
        return out

    def write(self, slot, state):
        self.call("rk_write_slot", slot, pointer(state))

    def copy(self, dst, src):
        self.call("rk_copy_slot", dst, src)

    def zero(self, slot):
        self.call("rk_zero_slot", slot)

    def adapter(self, deltas):
        """deltas: (layer, target, down, up, gain or None, blocks or None), arrays of fp32; returns the adapter's id."""
        i = C.c_int32()
        self.call("rk_new_adapter", C.byref(i))
        for layer, target, down, up, gain, blocks in deltas:
            self.call("rk_set_delta", i, layer, target, len(down), pointer(down), pointer(up), *(None if v is None else pointer(v) for v in (gain, blocks)),
                      0 if blocks is None else blocks.shape[-1])
        return i.value

    def set_counts(self, slot, counts):
        self.call("rk_set_counts", slot, pointer(counts), len(counts))

    def get_counts(self, slot):
        out, n = np.zeros(self.shape["vocab"], COUNT), C.c_int32()
        self.call("rk_get_counts", slot, pointer(out), len(out), C.byref(n))
        return out[:n.value]

    def memory(self):
        m = Memory()
        self.call("rk_memory_info", C.byref(m))
        return m

    def timing(self):
        t = Timing()
        self.call("rk_timing_info", C.byref(t))
        return t
