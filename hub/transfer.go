package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rookery/untrusted"
)

// partSize is how many bytes of a file are asked for at a time: a sixteenth, of at
// least 1 MiB and at most 32.
func partSize(size int64) int64 {
	const unit = 1 << 20
	return min(max((size/16+unit-1)/unit, 1), 32) * unit
}

// saveEvery is how much of the time before a crash may have to be repeated.
const saveEvery = 2 * time.Second

// tries is how often a part is asked for without a byte coming.
const tries = 8

var (
	errStalled  = errors.New("the server stopped sending")
	errNoRanges = errors.New("the server sends no parts of the file")
)

// A transfer is one file on its way. What is there is written beside it, after the
// file is on the disk, so that a later process goes on.
type transfer struct {
	client  *Client
	item    Item
	file    *os.File
	journal string // path of what is there

	saving  sync.Mutex // one at a time writes the journal
	mu      sync.Mutex
	arrived *sync.Cond // more came, or failed is set
	have    progress
	failed  bool
	report  func(done, total int64)
}

// progress is the journal.
type progress struct {
	Size   int64   `json:"size"`
	SHA256 string  `json:"sha256,omitempty"`
	ETag   string  `json:"etag,omitempty"`
	Part   int64   `json:"part"`
	Have   []int64 `json:"have"` // bytes of each part
}

func newTransfer(c *Client, item Item, file *os.File, part int64, report func(done, total int64)) *transfer {
	t := &transfer{client: c, item: item, file: file, journal: file.Name() + ".json", report: report}
	t.arrived = sync.NewCond(&t.mu)
	t.have = progress{Size: item.Size, SHA256: item.SHA256, ETag: item.etag, Part: part}
	t.have.Have = make([]int64, (item.Size+part-1)/part)
	return t
}

// resume takes over what an earlier process wrote down, if it is of the same file.
func (t *transfer) resume() {
	data, err := untrusted.Read(context.Background(), t.journal, maxListing)
	var old progress
	if err != nil || json.Unmarshal(data, &old) != nil {
		return
	}
	info, err := t.file.Stat()
	same := err == nil && old.Size == t.have.Size && old.SHA256 == t.have.SHA256 && old.Part == t.have.Part &&
		len(old.Have) == len(t.have.Have) && (old.SHA256 != "" || old.ETag != "" && old.ETag == t.have.ETag)
	for i, n := range old.Have {
		same = same && n >= 0 && n <= t.partLen(i) && (n == 0 || int64(i)*old.Part+n <= info.Size())
	}
	if same {
		t.have = old
	}
}

// partLen is the length of a part.
func (t *transfer) partLen(i int) int64 { return min(t.have.Part, t.have.Size-int64(i)*t.have.Part) }

// save writes the journal, after what it lists.
func (t *transfer) save() error {
	t.saving.Lock()
	defer t.saving.Unlock()
	t.mu.Lock()
	data, err := json.Marshal(t.have)
	t.mu.Unlock()
	if err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	if err := os.WriteFile(t.journal+".new", data, 0o644); err != nil {
		return err
	}
	return os.Rename(t.journal+".new", t.journal)
}

// run fetches all parts and returns the checksum of the whole.
func (t *transfer) run(ctx context.Context, workers int) (sum string, err error) {
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan int, len(t.have.Have))
	for i := range t.have.Have {
		queue <- i
	}
	close(queue)
	stop := context.AfterFunc(ctx, t.fail)
	defer stop()
	for range min(workers, len(t.have.Have)) {
		group.Go(func() error {
			for i := range queue {
				if t.have.Have[i] == t.partLen(i) {
					continue
				}
				err := t.fetchPart(ctx, i)
				if err := errors.Join(err, t.save()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() (err error) { sum, err = t.hash(); return err })
	return sum, group.Wait()
}

// fail wakes the goroutine that hashes.
func (t *transfer) fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
	t.arrived.Broadcast()
}

// hash reads what came, in order, as soon as all before it is there.
func (t *transfer) hash() (string, error) {
	h := sha256.New()
	for at := int64(0); at < t.have.Size; {
		end := t.contiguous(at)
		if end < 0 {
			return "", nil // the reason is another goroutine's
		}
		if _, err := io.Copy(h, io.NewSectionReader(t.file, at, end-at)); err != nil {
			return "", err
		}
		at = end
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// contiguous waits until more than the first at bytes are there without a gap, and
// returns how many are; -1 if no more will come.
func (t *transfer) contiguous(at int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		end := int64(0)
		for i, n := range t.have.Have {
			if end += n; n < t.partLen(i) {
				break
			}
		}
		if end > at {
			return end
		}
		if t.failed {
			return -1
		}
		t.arrived.Wait()
	}
}

// fetchPart asks until a part is there. It goes from one address to the next.
func (t *transfer) fetchPart(ctx context.Context, i int) error {
	pause := t.client.pause
	for try := 0; ; try++ {
		address := t.item.URLs[try%len(t.item.URLs)]
		got, err := t.fetch(ctx, address, i)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, errNoRanges) || errors.Is(err, errAnother) {
			return err
		}
		var status *statusCode
		lasting := errors.As(err, &status) && status.lasting() && try+1 >= len(t.item.URLs)
		if got > 0 {
			try, pause = 0, t.client.pause
		}
		if lasting || try+1 >= tries {
			return fmt.Errorf("%s: %w; run the command again to go on", host(address), err)
		}
		wait := pause + rand.N(pause)
		if status != nil && status.after > 0 {
			wait = status.after
		}
		pause = min(2*pause, 30*time.Second)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

func host(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// errAnother means that the server's file is not the one that was asked for.
var errAnother = errors.New("the server sends another file than it announced")

// fetch asks once for what is missing of a part, and says how many bytes came.
func (t *transfer) fetch(ctx context.Context, address string, i int) (got int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(t.client.stall, func() { cancel(errStalled) })
	defer watch.Stop()
	defer func() {
		if err != nil && context.Cause(ctx) == errStalled { //nolint:errorlint // the cause is that very value
			err = errStalled
		}
	}()
	first := int64(i) * t.have.Part
	end := first + t.partLen(i)
	start := first + t.have.Have[i]
	q, err := t.client.request(ctx, http.MethodGet, address)
	if err != nil {
		return 0, err
	}
	if tag := t.item.etag; t.item.SHA256 == "" && strings.HasPrefix(tag, `"`) {
		q.Header.Set("If-Range", tag) // if the file is another one now, all of it comes
	}
	q.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", start, end-1))
	a, err := t.client.http.Do(q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = a.Body.Close() }()
	if err := statusError(a); err != nil {
		return 0, err
	}
	if err := t.checkAnswer(a, i, start); err != nil {
		return 0, err
	}
	return t.copyBody(a.Body, i, watch)
}

// checkAnswer checks that an answer is what was asked for.
func (t *transfer) checkAnswer(a *http.Response, i int, start int64) error {
	switch {
	case a.StatusCode == http.StatusOK && len(t.have.Have) > 1:
		return errNoRanges
	case a.StatusCode == http.StatusOK:
		if a.ContentLength >= 0 && a.ContentLength != t.have.Size {
			return fmt.Errorf("%w: %d bytes instead of %d", errAnother, a.ContentLength, t.have.Size)
		}
		t.mu.Lock() // the whole file comes again
		t.have.Have[i] = 0
		t.mu.Unlock()
		return nil
	case a.StatusCode != http.StatusPartialContent:
		return fmt.Errorf("the server answers %s", a.Status)
	}
	span, total, _ := strings.Cut(strings.TrimPrefix(a.Header.Get("Content-Range"), "bytes "), "/")
	from, _, _ := strings.Cut(span, "-")
	if n, err := strconv.ParseInt(from, 10, 64); err != nil || n != start {
		return fmt.Errorf("the server sends bytes %.40q instead of those from %d", span, start)
	}
	if n, err := strconv.ParseInt(total, 10, 64); err == nil && n != t.have.Size {
		return fmt.Errorf("%w: %d bytes instead of %d", errAnother, n, t.have.Size)
	}
	return nil
}

// copyBody writes what comes to its place.
func (t *transfer) copyBody(body io.Reader, i int, watch *time.Timer) (got int64, err error) {
	buf, saved := make([]byte, 256<<10), time.Now()
	for left := t.partLen(i) - t.have.Have[i]; left > 0; {
		n, err := body.Read(buf[:min(int64(len(buf)), left)])
		if n > 0 {
			watch.Reset(t.client.stall)
			if _, werr := t.file.WriteAt(buf[:n], int64(i)*t.have.Part+t.have.Have[i]); werr != nil {
				return got, werr
			}
			got, left = got+int64(n), left-int64(n)
			t.came(i, int64(n))
			if time.Since(saved) > saveEvery {
				if err := t.save(); err != nil {
					return got, err
				}
				saved = time.Now()
			}
		}
		if err != nil && left > 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return got, err
		}
	}
	return got, nil
}

// came notes n more bytes of a part.
func (t *transfer) came(i int, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.have.Have[i] += n
	done := int64(0)
	for _, h := range t.have.Have {
		done += h
	}
	t.arrived.Broadcast()
	if t.report != nil {
		t.report(done, t.have.Size)
	}
}
