package tokenizer

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// golden is testdata/golden.json; golden.py made it with the rwkv package.
type golden struct {
	Vocabulary string
	Cases      []struct {
		Base64 string
		IDs    []int32 `json:"ids"`
	}
	Corpus, Random []hashedCase
}

type hashedCase struct {
	Name   string
	Bytes  int
	Tokens int
	SHA256 string
	Seed   uint64
}

func readGolden(t *testing.T) golden {
	t.Helper()
	var g golden
	if err := json.Unmarshal(readFile(t, "golden.json"), &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func readFile(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func digestIDs(ids []int32) string {
	h := sha256.New()
	for _, id := range ids {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(id)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestWorldIsTheReferenceVocabulary(t *testing.T) {
	text, err := worldText()
	if err != nil {
		t.Fatal(err)
	}
	const want = "e6dee3d4e31b4d5c40ac99508ac6c701ceef4bed681bf2167ce9a908552bca89"
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
		t.Errorf("the embedded file's SHA-256 is %x, want %s", sum, want)
	}
	if len(text) != worldBytes {
		t.Errorf("the embedded file has %d bytes, want %d", len(text), worldBytes)
	}
	w := World()
	if got, want := w.Fingerprint(), readGolden(t).Vocabulary; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	if w.Size() != 65530 || w.Name() != "World" {
		t.Errorf("size %d, name %q", w.Size(), w.Name())
	}
	if w != World() {
		t.Error("World was made twice")
	}
}

func TestEveryTokenEncodesToItself(t *testing.T) {
	w := World()
	for id := int32(1); int(id) < w.Size(); id++ {
		if got := w.Encode(nil, string(w.Bytes(id))); !slices.Equal(got, []int32{id}) {
			t.Fatalf("%q encodes to %v, want [%d]", w.Bytes(id), got, id)
		}
	}
}

func TestEncodeCasesAgainstReference(t *testing.T) {
	for _, c := range readGolden(t).Cases {
		text, err := base64.StdEncoding.DecodeString(c.Base64)
		if err != nil {
			t.Fatal(err)
		}
		got := World().Encode(nil, string(text))
		if !slices.Equal(got, c.IDs) {
			t.Errorf("%q: %v, want %v", text, got, c.IDs)
		}
	}
}

func TestEncodeCorpusAgainstReference(t *testing.T) {
	g := readGolden(t)
	if len(g.Corpus) < 4 || len(g.Random) < 4 {
		t.Fatalf("%d files and %d random texts in golden.json", len(g.Corpus), len(g.Random))
	}
	for _, c := range g.Corpus {
		checkHashed(t, c, readFile(t, filepath.Join("corpus", c.Name)))
	}
	for _, c := range g.Random {
		checkHashed(t, c, randomText(c.Seed, 20000))
	}
}

func checkHashed(t *testing.T, c hashedCase, text []byte) {
	t.Helper()
	ids := World().Encode(nil, string(text))
	if len(text) != c.Bytes || len(ids) != c.Tokens || digestIDs(ids) != c.SHA256 {
		t.Errorf("%s: %d bytes in %d tokens, want %d in %d; or their hash differs", c.Name, len(text), len(ids), c.Bytes, c.Tokens)
	}
	if got := World().Decode(nil, ids); string(got) != string(text) {
		t.Errorf("%s: decoding gives another text", c.Name)
	}
}

// randomText joins n tokens, some cut short, as golden.py does.
func randomText(seed uint64, n int) []byte {
	w, x := World(), seed
	var out []byte
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
		token := w.Bytes(int32(1 + x>>33%65529))
		if x>>63 == 1 {
			token = token[:1+x>>20%uint64(len(token))]
		}
		out = append(out, token...)
	}
	return out
}

func TestBoundaryTraps(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int32
	}{
		{"。\n\n", []int32{28329, 11}},
		{"\n\n", []int32{261}},
		{"User: hi\n\nAssistant:", []int32{24281, 59, 4571, 261, 5585, 41693, 59}},
		{"The Eiffel tower is in the city of", []int32{6699, 304, 25740, 109, 39990, 4600, 4596, 22590, 30449, 4706}},
		{"你好，世界", []int32{10464, 11685, 19137, 10267, 14610}},
		{"<think>", []int32{61, 35762, 63}},
		{" <think", []int32{295, 35762}},
		{"></", []int32{5439}},
		{"✿prefix✿", []int32{10060, 42093, 10060}},
		{"😀", []int32{3319, 153, 129}},
	} {
		if got := World().Encode(nil, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestEncodeAppends(t *testing.T) {
	got := World().Encode([]int32{7}, "\n\n")
	if !slices.Equal(got, []int32{7, 261}) {
		t.Errorf("got %v", got)
	}
	dst := make([]int32, 0, 64)
	if n := testing.AllocsPerRun(20, func() { dst = World().Encode(dst[:0], "no allocation here") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestIdsWithoutText(t *testing.T) {
	w := World()
	for _, id := range []int32{-1, 0, 65530, 65535, 1 << 30} {
		if b := w.Bytes(id); b != nil {
			t.Errorf("id %d has text %q", id, b)
		}
	}
	if got := w.Decode(nil, []int32{0, 11, 65535, 33}); string(got) != "\n " {
		t.Errorf("decoded %q", got)
	}
}

func TestForVocab(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string // a tokenizer's name; empty for a refusal
	}{
		{65529, "World"},
		{65530, "World"},
		{65536, "World"},
		{65544, "World"},
		{256, "bytes"},
		{50277, "20B"},
		{50304, "20B"},
		{0, ""},
		{-5, ""},
		{4096, ""},
		{1 << 30, ""},
	} {
		tok, err := ForVocab(c.n)
		if (err != nil) != (c.want == "") {
			t.Errorf("%d: %v", c.n, err)
		} else if err == nil && tok.Name() != c.want {
			t.Errorf("%d: %s, want %s", c.n, tok.Name(), c.want)
		}
	}
}

func TestBytesTokenizer(t *testing.T) {
	tok := NewBytes()
	text := "\x00aé\xff"
	ids := tok.Encode(nil, text)
	if !slices.Equal(ids, []int32{0, 'a', 0xc3, 0xa9, 0xff}) {
		t.Errorf("ids %v", ids)
	}
	if got := tok.Decode(nil, ids); string(got) != text || tok.Size() != 256 {
		t.Errorf("decoded %q, size %d", got, tok.Size())
	}
}

func FuzzEncode(f *testing.F) {
	for _, name := range []string{"english", "chinese", "code", "mixed"} {
		f.Add(readFile(f, filepath.Join("corpus", name+".txt")))
	}
	f.Add([]byte("\xff\x00\xe4\xbd"))
	bytesTok := NewBytes()
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, tok := range []*Tokenizer{World(), bytesTok} {
			ids := tok.Encode(nil, string(text))
			if got := tok.Decode(nil, ids); string(got) != string(text) {
				t.Fatalf("%s: %q came back as %q", tok.Name(), text, got)
			}
		}
	})
}

// shuffled makes about 1 MB out of a corpus file by repeating its lines' words
// in a random order, so that the processor cannot learn it.
func shuffled(b *testing.B, name string) string {
	b.Helper()
	src := readFile(b, filepath.Join("corpus", name+".txt"))
	out := make([]byte, 0, 1<<20+64)
	for x := uint64(1); len(out) < 1<<20; {
		x = x*6364136223846793005 + 1442695040888963407
		at := int(x>>33) % (len(src) - 64)
		out = append(out, src[at:at+8+int(x>>20%48)]...)
	}
	return string(out)
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range []string{"english", "chinese", "code", "mixed"} {
		text := shuffled(b, name)
		dst := World().Encode(nil, text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				dst = World().Encode(dst[:0], text)
			}
			b.ReportMetric(float64(len(text))/float64(len(dst)), "B/token")
		})
	}
}

func BenchmarkLoadWorld(b *testing.B) {
	for b.Loop() {
		t, err := loadWorld()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(t.trie.units)), strconv.Itoa(len(t.start)-1)+"-ids/units")
	}
}
