package attach_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rookery/chat/attach"
)

// inFolder works in a folder with some files. A name that ends in a slash is a folder.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "/") {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestReadPutsFilesBehindThePrompt(t *testing.T) {
	inFolder(t, map[string]string{
		"notes.md": "# Notes\r\n\r\n```go\nx := 1\n```\n", "my file.csv": "a,b\n1,2\n", "src/main.go": "package main\n", "src/.git": "hidden", "src/logo.png": "\x89PNG\r\n",
		"src/deep/data.json": "{}\n", "plain": "\xef\xbb\xbftext",
	})
	for _, c := range []struct{ prompt, want string }{
		{"Sum up @notes.md, please.", "Sum up notes.md, please.\n\nnotes.md:\n````md\n# Notes\n\n```go\nx := 1\n```\n````"},
		{`Compare @"my file.csv" (@plain)!`, "Compare my file.csv (plain)!\n\nmy file.csv:\n```csv\na,b\n1,2\n```\n\nplain:\n```\ntext\n```"},
		{"@src/", "src/\n\nsrc/deep/data.json:\n```json\n{}\n```\n\nsrc/main.go:\n```go\npackage main\n```"},
		{"@plain and again @./plain", "plain and again ./plain\n\nplain:\n```\ntext\n```"},
		{"a@plain @@plain @nobody @\"plain", "a@plain @@plain @nobody @\"plain"},
		{"x\n```\n@plain\n```\n", "x\n```\n@plain\n```\n"},
	} {
		p, err := attach.Read(t.Context(), c.prompt)
		if err != nil {
			t.Errorf("%q: %v", c.prompt, err)
		} else if got := p.String(); got != c.want {
			t.Errorf("%q becomes\n%s\nwant\n%s", c.prompt, got, c.want)
		} else if again, err := attach.Read(t.Context(), got); err != nil || again.String() != got {
			t.Errorf("what was sent, edited, becomes another text: %q, %v", again.String(), err)
		}
	}
}

func TestMissingFilesAreTold(t *testing.T) {
	inFolder(t, nil)
	p, err := attach.Read(t.Context(), "@nope.txt, @someone and @home.")
	if err != nil || !slices.Equal(p.Missing, []string{"nope.txt,"}) {
		t.Errorf("missing are %q, %v", p.Missing, err)
	}
}

func TestWhatIsNoTextIsRefused(t *testing.T) {
	inFolder(t, map[string]string{
		"a.txt": "%PDF-1.7 ...", "b.txt": "a\x00b", "c.txt": "caf\xe9", "d.txt": "\xff\xfea\x00", "e.txt": "PK\x03\x04", "f.txt": " \n", "empty/": "", "pics/x.png": "\x89PNG",
	})
	if err := os.Truncate("b.txt", attach.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("g.txt", []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.txt": "is a PDF", "b.txt": "larger than 4 MiB", "c.txt": "no text in UTF-8", "d.txt": "UTF-16", "e.txt": "office document", "f.txt": "is empty",
		"g.txt": "is no text", "pipe": "is a pipe", "empty": "no file of text", "pics/": "no file of text",
	} {
		if _, err := attach.Read(t.Context(), "@"+name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
}

func TestFoldersHaveALimit(t *testing.T) {
	files := map[string]string{}
	for i := range attach.MaxFiles + 1 {
		files[fmt.Sprintf("many/%d.txt", i)] = "x"
	}
	for i := range attach.MaxAll/attach.MaxFile + 1 {
		files[fmt.Sprintf("large/%d.txt", i)] = strings.Repeat("x", attach.MaxFile)
	}
	inFolder(t, files)
	if err := os.Symlink(".", "many/loop"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"many": "more than 200 files", "large": "more than 16 MiB"} {
		if _, err := attach.Read(t.Context(), "@"+name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	if err := os.Symlink("large", "link"); err != nil {
		t.Fatal(err)
	}
	if _, err := attach.Read(t.Context(), "@link"); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("a link to a folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := attach.Read(ctx, "@many"); err == nil {
		t.Error("reading goes on when nobody waits")
	}
}

func TestTheHashIsOfTheContent(t *testing.T) {
	inFolder(t, map[string]string{"a/notes.md": "one", "b/notes.md": "one", "c/notes.md": "two"})
	read := func(path string) attach.Prompt {
		p, err := attach.ReadPaths(t.Context(), []string{path})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := read("a/notes.md")
	for path, same := range map[string]bool{"./a/notes.md": true, "b/notes.md": true, "c/notes.md": false, "a": false} {
		if got := read(path).Hash() == one.Hash(); got != same {
			t.Errorf("%s has the hash of a/notes.md: %v", path, got)
		}
	}
	if read("a").Hash() != read("./a/").Hash() {
		t.Error("a folder has two hashes")
	}
	if want := "notes.md " + one.Hash()[:8]; one.Name() != want {
		t.Errorf("the name is %q, want %q", one.Name(), want)
	}
}

func TestCompletion(t *testing.T) {
	inFolder(t, map[string]string{"notes.md": "", "Old notes/x": "", "other.txt": "", ".hidden": "", "bad\x1bname": ""})
	all, err := attach.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string][]string{
		"": {"Old notes/", "notes.md", "other.txt"}, "no": {"notes.md", "Old notes/"}, "O": {"Old notes/", "other.txt", "notes.md"}, ".": {".hidden"}, "zz": nil,
	} {
		var got []string
		for _, c := range attach.Matching(all, typed) {
			got = append(got, c.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q may become %q, want %q", typed, got, want)
		}
	}
	for before, want := range map[string]string{"see @no": "no", `see @"Old n`: "Old n", "see @": "", "(@src/ma": "src/ma"} {
		if got, length, ok := attach.Unfinished(before); !ok || got != want || before[len(before)-length] != '@' {
			t.Errorf("%q: the path is %q, %d, %v", before, got, length, ok)
		}
	}
	for _, before := range []string{"me@home", "@a b", `@"a b" c`, "@@x", ""} {
		if got, _, ok := attach.Unfinished(before); ok {
			t.Errorf("%q: the path is %q", before, got)
		}
	}
}
