package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rookery/untrusted"
)

// An Item is a file to fetch.
type Item struct {
	Name   string
	URLs   []string // where it is; one after the other is tried
	SHA256 string   // empty: not known
	Size   int64
	etag   string // identifies the file where its checksum is not known
}

// A Client asks the hubs. Make one by NewClient.
type Client struct {
	huggingFace, modelScope string // without a slash at the end
	token                   string // for Hugging Face only
	offline                 bool
	releases                []Release
	http                    *http.Client
	stall                   time.Duration // nothing came for so long: try again
	pause                   time.Duration // before the second try; the next ones are longer
}

// maxListing bounds an answer that lists files, in bytes.
const maxListing = 16 << 20

// NewClient reads HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HUB_OFFLINE and
// MODELSCOPE_DOMAIN. The variables for proxies are followed as usual.
func NewClient(releases []Release) *Client {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 15 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
	}
	c := &Client{
		huggingFace: endpoint(os.Getenv("HF_ENDPOINT"), "https://huggingface.co"),
		modelScope:  endpoint(os.Getenv("MODELSCOPE_DOMAIN"), "https://modelscope.cn"),
		token:       os.Getenv("HF_TOKEN"), releases: releases, stall: 30 * time.Second, pause: time.Second,
		http: &http.Client{Transport: transport, CheckRedirect: checkRedirect},
	}
	if name := os.Getenv("HF_TOKEN_PATH"); c.token == "" && name != "" {
		if data, err := untrusted.Read(context.Background(), name, 4096); err == nil {
			c.token = strings.TrimSpace(string(data))
		}
	}
	switch strings.ToLower(os.Getenv("HF_HUB_OFFLINE")) {
	case "1", "true", "yes", "on":
		c.offline = true
	}
	return c
}

func endpoint(set, usual string) string {
	switch {
	case set == "":
		return usual
	case !strings.Contains(set, "://"):
		set = "https://" + set
	}
	return strings.TrimRight(set, "/")
}

// checkRedirect refuses to go from https to http. net/http drops the token when the
// host changes.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("redirected more than 10 times")
	}
	if via[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return fmt.Errorf("redirected from https to %s", next.URL.Scheme)
	}
	return nil
}

// hubForm is OWNER/REPO[@REVISION]/FILE.
var hubForm = regexp.MustCompile(`^([\w.-]+/[\w.-]+?)(?:@([\w./-]+?))?/([^@]+)$`)

// Resolve finds out what a source is: "hf:OWNER/REPO/FILE" or "ms:OWNER/REPO/FILE",
// with "@REVISION" after the repository; a URL; or the name of a release.
func (c *Client) Resolve(ctx context.Context, source string) (Item, error) {
	if c.offline {
		return Item{}, errors.New("HF_HUB_OFFLINE is set, so nothing is fetched; unset it")
	}
	item, err := c.resolve(ctx, source)
	if err != nil {
		return item, fmt.Errorf("%s: %w", source, err)
	}
	if err := checkName(item.Name); err != nil {
		return item, fmt.Errorf("%s: %w", source, err)
	}
	if item.Size <= 0 || item.Size > 1<<42 {
		return item, fmt.Errorf("%s: the server does not say how large the file is; fetch it with another program", source)
	}
	return item, nil
}

func (c *Client) resolve(ctx context.Context, source string) (Item, error) {
	kind, rest, _ := strings.Cut(source, ":")
	switch kind {
	case "hf", "ms":
		m := hubForm.FindStringSubmatch(rest)
		if m == nil || strings.Contains(rest, "..") {
			return Item{}, fmt.Errorf("name it as %s:OWNER/REPO/FILE", kind)
		}
		if kind == "ms" {
			return c.onModelScope(ctx, m[1], m[2], m[3])
		}
		return c.onHuggingFace(ctx, m[1], m[2], m[3])
	case "http", "https":
		u, err := url.Parse(source)
		if err != nil {
			return Item{}, err
		}
		// Addresses of Hugging Face go to its mirror, if one is set.
		if repo, file, ok := strings.Cut(strings.Trim(u.Path, "/"), "/resolve/main/"); ok && u.Host == "huggingface.co" {
			return c.onHuggingFace(ctx, repo, "", file)
		}
		return c.anywhere(ctx, u)
	}
	r, err := findRelease(c.releases, source)
	if err != nil {
		return Item{}, err
	}
	item, err := c.resolve(ctx, r.Source)
	switch {
	case err != nil:
		return item, err
	case item.Size != r.Size || item.SHA256 != "" && item.SHA256 != r.SHA256:
		return item, fmt.Errorf("%s is another file there than the one that was released (%d bytes, SHA-256 %s)", r.Source, r.Size, r.SHA256)
	}
	item.SHA256 = r.SHA256
	return item, nil
}

// onHuggingFace asks for the headers before the redirect, which have the size and for
// large files the checksum.
func (c *Client) onHuggingFace(ctx context.Context, repo, revision, file string) (Item, error) {
	if revision == "" {
		revision = "main"
	}
	address := c.huggingFace + "/" + repo + "/resolve/" + url.PathEscape(revision) + "/" + escapePath(file)
	direct := *c.http
	direct.CheckRedirect = func(next *http.Request, _ []*http.Request) error {
		if next.Response != nil && next.Response.Header.Get("X-Linked-Size") == "" {
			return nil // the repository moved
		}
		return http.ErrUseLastResponse
	}
	header, length, err := c.head(ctx, &direct, address)
	if err != nil {
		return Item{}, err
	}
	item := Item{Name: path.Base(file), URLs: []string{address}, Size: length, etag: header.Get("Etag")}
	if n, err := strconv.ParseInt(header.Get("X-Linked-Size"), 10, 64); err == nil {
		item.Size = n
	}
	if tag := strings.Trim(header.Get("X-Linked-Etag"), `W/"`); isSum(tag) {
		item.SHA256 = tag
	}
	return item, nil
}

// onModelScope lists the repository, which has sizes and checksums.
func (c *Client) onModelScope(ctx context.Context, repo, revision, file string) (Item, error) {
	if revision == "" {
		revision = "master"
	}
	base := c.modelScope + "/api/v1/models/" + repo
	query := url.Values{"Revision": {revision}, "Recursive": {"true"}}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/repo/files?"+query.Encode(), nil)
	if err != nil {
		return Item{}, err
	}
	a, err := c.http.Do(q)
	if err != nil {
		return Item{}, err
	}
	defer func() { _ = a.Body.Close() }()
	if err := statusError(a); err != nil {
		return Item{}, err
	}
	var list struct {
		Data struct { //nolint:tagliatelle // its names there
			Files []struct {
				Path, Sha256 string
				Size         int64
			}
		}
	}
	if err := json.NewDecoder(io.LimitReader(a.Body, maxListing)).Decode(&list); err != nil {
		return Item{}, fmt.Errorf("the list of files cannot be read: %w", err)
	}
	for _, f := range list.Data.Files {
		if f.Path == file {
			query := url.Values{"Revision": {revision}, "FilePath": {file}}
			item := Item{Name: path.Base(file), URLs: []string{base + "/repo?" + query.Encode()}, Size: f.Size}
			if isSum(f.Sha256) {
				item.SHA256 = f.Sha256
			}
			return item, nil
		}
	}
	return Item{}, fmt.Errorf("the repository has no file %s", file)
}

// anywhere asks a server for size and tag of a file.
func (c *Client) anywhere(ctx context.Context, u *url.URL) (Item, error) {
	header, length, err := c.head(ctx, c.http, u.String())
	if err != nil {
		return Item{}, err
	}
	return Item{Name: path.Base(u.Path), URLs: []string{u.String()}, Size: length, etag: header.Get("Etag")}, nil
}

// head asks for the headers of a file and says how long it is.
func (c *Client) head(ctx context.Context, h *http.Client, address string) (http.Header, int64, error) {
	q, err := c.request(ctx, http.MethodHead, address)
	if err != nil {
		return nil, 0, err
	}
	a, err := h.Do(q)
	if err != nil {
		return nil, 0, err
	}
	return a.Header, a.ContentLength, errors.Join(statusError(a), a.Body.Close())
}

// request makes one. The token goes to Hugging Face alone.
func (c *Client) request(ctx context.Context, method, address string) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept-Encoding", "identity")
	q.Header.Set("User-Agent", "rookery")
	if c.token != "" && strings.HasPrefix(address, c.huggingFace+"/") {
		q.Header.Set("Authorization", "Bearer "+c.token)
	}
	return q, nil
}

// A statusCode is an answer that is not the file.
type statusCode struct {
	code  int
	text  string
	after time.Duration // to wait, as the server says; 0: it does not
}

func (s *statusCode) Error() string { return s.text }

// lasting says whether asking again is useless.
func (s *statusCode) lasting() bool {
	return s.code >= 400 && s.code < 500 && s.code != http.StatusTooManyRequests && s.code != http.StatusRequestTimeout
}

func statusError(a *http.Response) error {
	if a.StatusCode < 400 {
		return nil
	}
	s := &statusCode{code: a.StatusCode, text: "the server answers " + a.Status}
	switch a.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		s.text += "; if the repository is private, set HF_TOKEN"
	case http.StatusNotFound:
		s.text += "; is the name right?"
	case http.StatusTooManyRequests:
		s.text += "; try again later"
	}
	if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && n >= 0 {
		s.after = time.Duration(min(n, 60)) * time.Second
	}
	return s
}

func escapePath(file string) string {
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
