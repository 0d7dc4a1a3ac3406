"""Writes pile.json beside it: what the public tokenizers package makes of texts with
the 20B tokenizer. Needs the decompressed file: python pile.py 20B_tokenizer.json."""
import hashlib
import json
import pathlib
import struct
import sys
import unicodedata

from tokenizers import Tokenizer, normalizers

here = pathlib.Path(__file__).parent
t = Tokenizer.from_file(sys.argv[1])
CASES = [
    "", " ", "  ", "   a", "a   b", "hello\n\n world", " " * 60, "I'll we've don't O'Brien 'SHE's", "x\u0301\u00e9 e\u0301",
    "<|endoftext|>a<|padding|><|endoftext", "12345 ٣٤٥ ⅷ½", "tabs\t\t\tand \u00a0\u3000 spaces \x85 \n", "乌鸦的巢，在树上。\n\n", "こんにちは世界",
    "안녕하세요 세계", "नमस्ते दुनिया", "Привет, мир!", "مرحبا بالعالم", "שלום עולם", "สวัสดีชาวโลก", "😀👨‍👩‍👧 🏳️‍🌈", "naïve café Ångström ﬁ",
    "def f(x):\n        return x ** 2  # twice\n", "Ὀδυσσεύς", "ᄒ\u1161\u11ab", "\u0344 \u1fef \u2126", "a" * 300, "\x00\x01\x7f", "\ufffd",
]


def digest(ids):
    return hashlib.sha256(b"".join(struct.pack("<I", i) for i in ids)).hexdigest()


# The package's tables for NFC are those of Unicode 9. Marks that came later have
# another order among other marks; Python 3.11 knows those up to Unicode 14.
NFC = normalizers.NFC()
NEWER = {0x1E4EC, 0x1E4ED, 0x1E4EE, 0x1E4EF} | {
    c for c in range(1, 0x30000) if not 0xD800 <= c < 0xE000 and any(
        NFC.normalize_str(s) != unicodedata.normalize("NFC", s) for s in ("\u0345" + chr(c), chr(c) + "\u0334", "a\u0301" + chr(c)))}


def planes():
    """Every character, 16 in a row, then each with a mark that may combine with it. More
    than 30 marks in a row would be another matter: Go breaks them up."""
    chars = [c for c in range(1, 0x30000) if not 0xD800 <= c < 0xE000 and c not in NEWER]
    for i in range(0, len(chars), 16):
        yield "".join(map(chr, chars[i:i + 16]))
    for i in range(0, len(chars), 16):
        yield " ".join(chr(c) + "\u0301" for c in chars[i:i + 16])


def digests():
    """One for every 16 texts of planes()."""
    ids = [t.encode(text).ids for text in planes()]
    for i in range(0, len(ids), 16):
        yield digest(sum(ids[i:i + 16], []))[:8]


json.dump({
    "cases": [{"text": c, "ids": t.encode(c).ids} for c in CASES],
    "corpus": {f.name: digest(t.encode(f.read_text(encoding="utf-8", newline="") if sys.version_info >= (3, 13) else open(f, encoding="utf-8", newline="").read()).ids) for f in sorted((here / "corpus").glob("*.txt"))},
    "newer": sorted(NEWER),
    "planes": list(digests()),
}, open(here / "pile.json", "w"), ensure_ascii=True)
