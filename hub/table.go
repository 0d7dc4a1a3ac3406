package hub

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"rookery/untrusted"
)

// A Release is an official file.
type Release struct {
	Name   string
	Size   int64
	SHA256 string
	Source string // as Client.Resolve takes it
}

//go:embed releases.tsv
var shipped string

// maxTable bounds a file of releases in bytes.
const maxTable = 16 << 20

// Releases are the official files that the program knows of, then those of a file, if
// one is named: lines of name, bytes, SHA-256 and source with tabs between, or the
// manifest.json of RWKV-Runner.
func Releases(file string) ([]Release, error) {
	known, err := parseTable(shipped)
	if err != nil || file == "" {
		return known, err
	}
	data, err := untrusted.Read(context.Background(), file, maxTable)
	if err != nil {
		return nil, fmt.Errorf("table of releases: %w", err)
	}
	parse := parseTable
	if strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		parse = parseManifest
	}
	more, err := parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("table of releases %s: %w", file, err)
	}
	return append(more, known...), nil
}

func parseTable(text string) ([]Release, error) {
	var out []Release
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("line %d: not name, bytes, SHA-256 and source with tabs between", i+1)
		}
		size, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil || size <= 0 || !isSum(f[2]) || checkName(f[0]) != nil {
			return nil, fmt.Errorf("line %d: not name, bytes, SHA-256 and source with tabs between", i+1)
		}
		out = append(out, Release{f[0], size, f[2], f[3]})
	}
	return out, nil
}

// parseManifest reads what RWKV-Runner publishes.
func parseManifest(text string) ([]Release, error) {
	var m struct {
		Models []struct {
			Name        string `json:"name"`
			Size        int64  `json:"size"`
			SHA256      string `json:"SHA256"` //nolint:tagliatelle // its name there
			DownloadURL string `json:"downloadUrl"`
		} `json:"models"`
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, err
	}
	var out []Release
	for _, r := range m.Models {
		if sum := strings.ToLower(r.SHA256); r.Size > 0 && isSum(sum) && checkName(r.Name) == nil {
			out = append(out, Release{r.Name, r.Size, sum, r.DownloadURL})
		}
	}
	return out, nil
}

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

func isSum(s string) bool { return sumForm.MatchString(s) }

// checkName refuses names that are no plain file names.
func checkName(name string) error {
	if name == "" || len(name) > 200 || name[0] == '.' || strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r)
	}) {
		return fmt.Errorf("%.80q is no name for a file", name)
	}
	return nil
}

// findRelease finds a release by its name, with or without the ending.
func findRelease(all []Release, name string) (Release, error) {
	bare := func(s string) string { return strings.ToLower(strings.TrimSuffix(s, path.Ext(s))) }
	for _, match := range []func(r Release) bool{
		func(r Release) bool { return r.Name == name },
		func(r Release) bool { return strings.EqualFold(r.Name, name) || bare(r.Name) == strings.ToLower(name) },
	} {
		for _, r := range all {
			if match(r) {
				return r, nil
			}
		}
	}
	var near []string
	for _, r := range all {
		if strings.Contains(strings.ToLower(r.Name), strings.ToLower(name)) {
			near = append(near, r.Name)
		}
	}
	if len(near) == 1 {
		return findRelease(all, near[0])
	}
	if len(near) > 0 {
		return Release{}, fmt.Errorf("%s is the name of several releases: %s", name, strings.Join(near, ", "))
	}
	return Release{}, fmt.Errorf("no release is called %s; name one that `rookery models releases` lists, hf:OWNER/REPO/FILE, ms:OWNER/REPO/FILE or a URL", name)
}

// A Pedigree is what the name of an official file says.
type Pedigree struct{ Generation, Size, Date, Context string }

var (
	generationForm = regexp.MustCompile(`(?i)(?:^|[-_. ])(g[01](?:[a-z]\d*)?|x0[4-7]\d[a-z]?|world|raven|pile)(?:[-_. ]|$)`)
	sizeForm       = regexp.MustCompile(`(?i)(?:^|[-_. ])(\d+(?:\.\d+)?b\d?|\d+m)(?:[-_. ]|$)`)
	dateForm       = regexp.MustCompile(`(?:^|\D)(20[2-9]\d[01]\d[0-3]\d)(?:\D|$)`)
	contextForm    = regexp.MustCompile(`(?i)ctx(\d+k?)`)
)

// PedigreeOf reads a name; what it does not say is empty.
func PedigreeOf(name string) Pedigree {
	first := func(form *regexp.Regexp) string {
		if m := form.FindStringSubmatch(name); m != nil {
			return m[1]
		}
		return ""
	}
	return Pedigree{first(generationForm), first(sizeForm), first(dateForm), first(contextForm)}
}
