package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

// Files are all files of a prompt.
func (p Prompt) Files() []File {
	var all []File
	for _, s := range p.Sources {
		all = append(all, s.Files...)
	}
	return all
}

// String is the text that is sent: the prompt, and behind it the files.
func (p Prompt) String() string {
	if len(p.Sources) == 0 {
		return p.Text
	}
	return strings.TrimRight(p.Text, " \n") + "\n\n" + p.Document()
}

// Document is the text of the files, each in a fence under its name.
func (p Prompt) Document() string { return render(p.Files()) }

func render(files []File) string {
	parts := make([]string, len(files))
	for i, f := range files {
		fence := fenceAround(f.Text)
		parts[i] = f.Name + ":\n" + fence + language(f.Name) + "\n" + strings.TrimRight(f.Text, "\n") + "\n" + fence
	}
	return strings.Join(parts, "\n\n")
}

// Document is the text of what one mention has brought.
func (s Source) Document() string { return render(s.Files) }

// fenceAround is a fence that no line of a text ends.
func fenceAround(text string) string {
	fence := "```"
	for line := range strings.Lines(text) {
		if run := fenceOf(line); len(run) >= len(fence) && run[0] == '`' {
			fence = run + "`"
		}
	}
	return fence
}

// language is what a fence says of the text in it: the ending of the file's name.
func language(name string) string {
	ending := strings.TrimPrefix(filepath.Ext(name), ".")
	for _, r := range ending {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return ""
		}
	}
	if len(ending) > 12 {
		return ""
	}
	return ending
}

// Name is what a state is called that has read the files: the first one's name, how
// many others there are, and the beginning of the hash of all.
func (p Prompt) Name() string {
	if len(p.Sources) == 0 {
		return ""
	}
	name := filepath.Base(filepath.Clean(expandHome(p.Sources[0].Name)))
	const longest = 80 // bytes; a state's name has a bound
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	if n := len(p.Sources) - 1; n > 0 {
		name += fmt.Sprintf(" +%d", n)
	}
	return name + " " + p.Hash()[:8]
}

// Hash is a SHA-256 over the names, without the folders that lead to them, and texts of
// the files, in hexadecimal digits. How a prompt names a file does not change it.
func (p Prompt) Hash() string {
	var b strings.Builder
	for _, s := range p.Sources {
		above := filepath.Dir(filepath.Clean(s.Name))
		for _, f := range s.Files {
			name, err := filepath.Rel(above, filepath.Clean(f.Name))
			if err != nil {
				name = filepath.Base(f.Name)
			}
			fmt.Fprintf(&b, "%q %d\n%s", filepath.ToSlash(name), len(f.Text), f.Text)
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
