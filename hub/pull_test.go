package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A fakeHub is a hub in the way of Hugging Face and a second host that has the files
// and behaves badly.
type fakeHub struct {
	data     []byte
	sum      string
	hub, cdn *httptest.Server
	asked    atomic.Int64
	sent     atomic.Int64
	leaked   atomic.Bool // the token reached the second host
	trouble  func(n int64, w http.ResponseWriter, r *http.Request) (done bool)
}

func newHub(t *testing.T, size int) *fakeHub {
	t.Helper()
	h := &fakeHub{data: make([]byte, size)}
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(h.data) // it never fails
	sum := sha256.Sum256(h.data)
	h.sum = hex.EncodeToString(sum[:])
	h.cdn = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			h.leaked.Store(true)
		}
		if h.trouble != nil && h.trouble(h.asked.Add(1), w, r) {
			return
		}
		http.ServeContent(countingWriter{w, &h.sent}, r, "x", time.Time{}, bytes.NewReader(h.data))
	}))
	h.hub = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/me/models/resolve/main/small.gguf" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Linked-Etag", `"`+h.sum+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(h.data)))
		other := strings.Replace(h.cdn.URL, "127.0.0.1", "localhost", 1)
		http.Redirect(w, r, other+"/blob", http.StatusFound)
	}))
	t.Cleanup(h.cdn.Close)
	t.Cleanup(h.hub.Close)
	t.Setenv("HF_ENDPOINT", h.hub.URL)
	t.Setenv("HF_TOKEN", "secret")
	t.Setenv("HF_HUB_OFFLINE", "")
	return h
}

type countingWriter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c countingWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}

const address = "hf:me/models/small.gguf"

// client is one that is not patient.
func client() *Client {
	c := NewClient(nil)
	c.stall, c.pause = 200*time.Millisecond, time.Millisecond
	return c
}

func pull(t *testing.T, s *Store, c *Client, source string) (string, error) {
	t.Helper()
	item, err := c.Resolve(t.Context(), source)
	if err != nil {
		return "", err
	}
	return s.Pull(t.Context(), c, item, nil)
}

func (h *fakeHub) check(t *testing.T, path string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, h.data) {
		t.Fatalf("%d bytes that differ, %v", len(got), err)
	}
	if h.leaked.Load() {
		t.Error("the token reached the second host")
	}
}

// A server that cuts answers, answers 503 and 429, stalls and sends the wrong part, and
// a program that is interrupted three times.
func TestPullThroughTrouble(t *testing.T) {
	h := newHub(t, 3<<20)
	h.trouble = func(n int64, w http.ResponseWriter, r *http.Request) bool {
		var a, b int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &a, &b)
		switch {
		case n%11 == 5:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n%11 == 7:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case n == 4: // nothing comes any more
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, b, len(h.data)))
			w.Header().Set("Content-Length", fmt.Sprint(b+1-a))
			w.WriteHeader(http.StatusPartialContent)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case n%11 == 9: // another part than the one that was asked for
			r.Header.Set("Range", "bytes=0-99")
			http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(h.data))
		case n%3 == 0: // half of it
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, b, len(h.data)))
			w.Header().Set("Content-Length", fmt.Sprint(b+1-a))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(h.data[a : a+(b+1-a)/2])
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	}
	s := &Store{Dir: t.TempDir(), part: 100_000}
	item, err := client().Resolve(t.Context(), address)
	if err != nil || item.SHA256 != h.sum || item.Size != int64(len(h.data)) {
		t.Fatalf("%+v, %v", item, err)
	}
	for i := range int64(3) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Pull(ctx, client(), item, func(done, total int64) {
			if done > total*(i+1)/4 {
				cancel()
			}
		})
		cancel()
		if err == nil {
			t.Fatal("it was not interrupted")
		}
		if list, err := s.List(); err != nil || len(list) != 0 {
			t.Fatalf("half a file is listed: %v, %v", list, err)
		}
	}
	path, err := s.Pull(t.Context(), client(), item, nil)
	h.check(t, path, err)
	if h.sent.Load() > int64(len(h.data))*3/2 {
		t.Errorf("%d bytes were sent for a file of %d", h.sent.Load(), len(h.data))
	}
	entries, err := os.ReadDir(filepath.Join(s.Dir, blobs))
	if err != nil || len(entries) != 1 || entries[0].Name() != h.sum {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	asked := h.asked.Load()
	path, err = pull(t, s, client(), address)
	h.check(t, path, err)
	if h.asked.Load() != asked {
		t.Error("what is there was fetched again")
	}
}

// What a dead process left is used, as far as its journal says.
func TestPullGoesOnAfterAKill(t *testing.T) {
	h := newHub(t, 1<<20)
	s := &Store{Dir: t.TempDir(), part: 1 << 18}
	if err := os.MkdirAll(filepath.Join(s.Dir, blobs), 0o755); err != nil {
		t.Fatal(err)
	}
	half := append(bytes.Clone(h.data[:1<<19]), make([]byte, 1000)...) // more than the journal says
	journal, err := json.Marshal(progress{Size: 1 << 20, SHA256: h.sum, Part: 1 << 18, Have: []int64{1 << 18, 1 << 18, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	part := s.blob(h.sum) + partSuffix
	for name, data := range map[string][]byte{part: half, part + ".json": journal} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path, err := pull(t, s, client(), address)
	h.check(t, path, err)
	if h.sent.Load() != 1<<19 {
		t.Errorf("%d bytes were sent, half of %d was missing", h.sent.Load(), 1<<20)
	}
}

func TestPullRefusesLies(t *testing.T) {
	for name, lie := range map[string]struct {
		trouble func(h *fakeHub, w http.ResponseWriter, r *http.Request)
		free    uint64
		want    string
	}{
		"sum": {func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
			wrong := bytes.Clone(h.data)
			wrong[1000]++
			http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(wrong))
		}, 0, "SHA-256"},
		"length": {func(h *fakeHub, w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(append(h.data, 1)))
		}, 0, "another file"},
		"gone": {func(_ *fakeHub, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusGone)
		}, 0, "410"},
		"patience": {func(_ *fakeHub, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
		}, 0, "429"},
		"disk": {nil, 1000, "make room"},
	} {
		h := newHub(t, 1<<18)
		if lie.trouble != nil {
			h.trouble = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
				lie.trouble(h, w, r)
				return true
			}
		}
		s := &Store{Dir: t.TempDir(), part: 1 << 16, Free: func(string) uint64 { return lie.free }}
		_, err := pull(t, s, client(), address)
		if err == nil || !strings.Contains(err.Error(), lie.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line about %q", name, err, lie.want)
		}
		if list, _ := s.List(); len(list) != 0 {
			t.Errorf("%s: the folder lists %v", name, list)
		}
	}
}

// A server that knows no ranges sends the whole.
func TestPullWithoutRanges(t *testing.T) {
	h := newHub(t, 1<<18)
	h.trouble = func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", fmt.Sprint(len(h.data)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(h.data)
		}
		return true
	}
	s := &Store{Dir: t.TempDir(), part: 1 << 16}
	path, err := pull(t, s, client(), address)
	h.check(t, path, err)
	path, err = pull(t, s, client(), h.cdn.URL+"/some/model.pth") // whose sum nobody says
	h.check(t, path, err)
	if filepath.Base(path) != "model.pth" {
		t.Errorf("it is called %s", path)
	}
}

func TestStoreRemovesAndCollects(t *testing.T) {
	h := newHub(t, 5000)
	s := &Store{Dir: t.TempDir()}
	if _, err := pull(t, s, client(), address); err != nil {
		t.Fatal(err)
	}
	if _, err := pull(t, s, client(), h.cdn.URL+"/twin.pth"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "own.pth"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("own.pth"); err == nil || s.Remove("nothing") == nil {
		t.Error("removed what it did not fetch")
	}
	for i, name := range []string{"twin.pth", "small.gguf"} {
		if err := s.Remove(name); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.blob(h.sum)); (err == nil) != (i == 0) {
			t.Errorf("after %s went: %v", name, err)
		}
	}
	for _, name := range []string{h.sum, h.sum + partSuffix, h.sum + partSuffix + ".json"} {
		if err := os.WriteFile(s.blob(name), []byte("left"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if freed, err := s.Collect(); err != nil || freed != 12 {
		t.Errorf("%d bytes are freed, want 12, %v", freed, err)
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].SHA256 != "" {
		t.Errorf("left are %v, %v", list, err)
	}
}

func TestResolveRefuses(t *testing.T) {
	h := newHub(t, 100)
	known, err := Releases("")
	if err != nil || len(known) < 10 {
		t.Fatal(known, err)
	}
	c := client()
	c.releases = append(known, Release{"tiny-1.pth", 99, h.sum, address}, Release{"tiny-2.pth", 99, h.sum, address})
	for source, want := range map[string]string{
		"hf:me/models/other.gguf":  "404",
		"hf:me/../etc/passwd":      "hf:OWNER/REPO/FILE",
		"hf:me/models/../x":        "hf:OWNER/REPO/FILE",
		"hf:models":                "hf:OWNER/REPO/FILE",
		"rwkv7-g9":                 "models releases",
		"tiny":                     "several releases",
		"tiny-1":                   "another file there",
		"http://127.0.0.1:1/x.pth": "refused",
		h.cdn.URL + "/.hidden":     "no name for a file",
		"http://[bad":              "bad",
	} {
		if _, err := c.Resolve(t.Context(), source); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line about %q", source, err, want)
		}
	}
	c.token = ""
	if _, err := c.Resolve(t.Context(), address); err == nil || !strings.Contains(err.Error(), "HF_TOKEN") {
		t.Errorf("without a token: %v", err)
	}
	t.Setenv("HF_HUB_OFFLINE", "1")
	if _, err := NewClient(nil).Resolve(t.Context(), address); err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE") {
		t.Errorf("offline: %v", err)
	}
}

func TestModelScope(t *testing.T) {
	h := newHub(t, 1000)
	scope := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/models/me/m/repo/files" && r.URL.Query().Get("Revision") == "master":
			_, _ = fmt.Fprintf(w, `{"Code":200,"Data":{"Files":[{"Path":"a/x.pth","Size":1000,"Sha256":"%s"}]}}`, h.sum)
		case r.URL.Path == "/api/v1/models/me/m/repo" && r.URL.Query().Get("FilePath") == "a/x.pth":
			http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(h.data))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer scope.Close()
	t.Setenv("MODELSCOPE_DOMAIN", scope.URL)
	path, err := pull(t, &Store{Dir: t.TempDir(), part: 300}, client(), "ms:me/m/a/x.pth")
	h.check(t, path, err)
	if _, err := pull(t, &Store{Dir: t.TempDir()}, client(), "ms:me/m/b.pth"); err == nil || !strings.Contains(err.Error(), "no file b.pth") {
		t.Error(err)
	}
}

func TestTables(t *testing.T) {
	dir := t.TempDir()
	sum := strings.Repeat("ab", 32)
	for name, c := range map[string]struct{ text, first string }{
		"t.tsv":  {"new.pth\t5\t" + sum + "\thf:a/b/new.pth\n", "new.pth"},
		"m.json": {`{"models":[{"name":"m.pth","size":7,"SHA256":"` + strings.ToUpper(sum) + `","downloadUrl":"https://huggingface.co/a/b/resolve/main/m.pth"},{"name":"../x"}]}`, "m.pth"},
		"bad":    {"../new.pth\t5\t" + sum + "\thf:a/b/new.pth\n", ""},
		"short":  {"new.pth 5\n", ""},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Releases(path)
		if (err != nil) != (c.first == "") || err == nil && got[0].Name != c.first {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, want := range map[string]Pedigree{
		"rwkv7-g1e-2.9b-20260312-ctx8192.pth":             {"g1e", "2.9b", "20260312", "8192"},
		"RWKV-x060-World-1B6-v2.1-20240328-ctx4096.pth":   {"x060", "1B6", "20240328", "4096"},
		"rwkv7-g0a4-13.3b-20251114-ctx8192-Q4_K_M.gguf":   {"g0a4", "13.3b", "20251114", "8192"},
		"RWKV-4-Raven-14B-v12-Eng98-20230523-ctx8192.pth": {"Raven", "14B", "20230523", "8192"},
		"model.pth": {},
	} {
		if got := PedigreeOf(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
