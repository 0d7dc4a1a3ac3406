"""Writes golden.json: what the public rwkv package's tokenizer says.

    pip install rwkv==0.8.32
    python golden.py            (in this folder)

Full cases are given as ids. Larger ones are given as the SHA-256 of their ids
as 32-bit little-endian numbers: the files of corpus/, and texts that join
pseudo-random tokens of the whole vocabulary, cut anywhere.
"""

import base64
import hashlib
import json
import os
import struct
import sys
from importlib.metadata import distribution
from importlib.util import find_spec

package = os.path.dirname(find_spec("rwkv").origin)
sys.path.insert(0, package)
from rwkv_tokenizer import TRIE_TOKENIZER  # noqa: E402

tok = TRIE_TOKENIZER(package + "/rwkv_vocab_v20230424.txt")

CASES = [
    b"", b"\n", b"\n\n", b"\n\n\n", b"\n\n\n\n", b" \n\n", b"\n\n ", b"\n\n\t", b"\r\n", b"\r\n\r\n",
    "。\n\n", "，\n\n", "…\n\n", "好。\n\nUser:", "User: hi\n\nAssistant:", "User: hi\n\nAssistant: <think",
    "<think>\n</think>", "</think>\n\n", "></", "✿prefix✿", "✿suffix✿", "✿middle✿",
    "The Eiffel tower is in the city of", "你好，世界", "😀", "👩‍💻🏳️‍🌈", "\u00a0\u3000\ufeff",
    "System: You are Rook.\n\nUser: 1+1=?\n\nAssistant:", "0123456789" * 3, " " * 70, "=" * 130, "\t" * 9,
    bytes(range(256)), b"\xff\xfe\x80\xc0\xed\xa0\x80", b"\xe4\xbd", b"\xf0\x9f\x98", b"a\x00b\x00",
]


def data(case):
    return case if isinstance(case, bytes) else case.encode()


def digest(ids):
    return hashlib.sha256(struct.pack("<%dI" % len(ids), *ids)).hexdigest()


def random_text(seed, n):
    """n tokens chosen by Knuth's MMIX generator, joined; the test does the same."""
    out, x = [], seed
    for _ in range(n):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        token = tok.idx2token[1 + (x >> 33) % 65529]
        out.append(token[: 1 + (x >> 20) % len(token)] if x >> 63 else token)
    return b"".join(out)


def hashed(name, text):
    ids = tok.encodeBytes(text)
    assert tok.decodeBytes(ids) == text
    return {"name": name, "bytes": len(text), "tokens": len(ids), "sha256": digest(ids)}


vocabulary = hashlib.sha256()
for token_id, token in sorted(tok.idx2token.items()):
    vocabulary.update(struct.pack("<2I", token_id, len(token)) + token)

golden = {
    "package": "rwkv " + distribution("rwkv").version,
    "vocabulary": vocabulary.hexdigest(),
    "cases": [{"base64": base64.b64encode(data(c)).decode(), "ids": tok.encodeBytes(data(c))} for c in CASES],
    "corpus": [hashed(f, open("corpus/" + f, "rb").read()) for f in sorted(os.listdir("corpus"))],
    "random": [dict(hashed(str(s), random_text(s, 20000)), seed=s) for s in range(1, 5)],
}
with open("golden.json", "w") as f:
    json.dump(golden, f, separators=(",", ":"))
    f.write("\n")
