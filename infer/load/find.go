package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rookery/infer/cpu"
	"rookery/infer/rwkv"
)

// A Found is a file that may be a model.
type Found struct {
	Path   string
	Name   string // the name that the model would have
	Size   int64
	Format string     // as checkpoint.File.Format; empty if it cannot be read
	Shape  rwkv.Shape // as far as it can be read
	Err    error      // why it cannot be run, or nil
	// Weights is the type that the CPU would load the weights with, and Memory is
	// how many bytes that takes.
	Weights string
	Memory  int64
}

// Find lists the .pth, .safetensors, .gguf, .bin and .index.json files of directories, in the order of
// the directories and then of names. Directories that do not exist have no
// files. Find does not read the weights.
func Find(dirs []string) ([]Found, error) {
	var found []Found
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return found, fmt.Errorf("look for models: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && isModelName(e.Name()) {
				m := inspect(filepath.Join(dir, e.Name()))
				// Many programs write .bin files; those that cannot be read are none of ours.
				if m.Format != "" || !strings.EqualFold(filepath.Ext(e.Name()), ".bin") {
					found = append(found, m)
				}
			}
		}
	}
	return found, nil
}

// shardName matches one file of several, which an .index.json lists.
var shardName = regexp.MustCompile(`-\d{5}-of-\d{5}\.`)

func isModelName(name string) bool {
	name = strings.ToLower(name)
	switch filepath.Ext(name) {
	case ".pth", ".safetensors", ".gguf", ".bin":
		return !shardName.MatchString(name)
	}
	return strings.HasSuffix(name, ".index.json")
}

// inspect describes one file.
func inspect(path string) Found {
	out := Found{Path: path, Name: ModelName(path)}
	if info, err := os.Stat(path); err == nil {
		out.Size = info.Size()
	}
	return out.read()
}

// Embedded describes the embedded model.
func Embedded() Found { return Found{Name: ModelName("")}.read() }

// read fills in what is in the file.
func (out Found) read() Found {
	f, err := openFile(out.Path)
	if err != nil {
		out.Err = err
		return out
	}
	out.Size = max(out.Size, f.Size())
	out.Format = f.Format()
	if out.Shape, out.Err = rwkv.Detect(f); out.Err == nil {
		need, err := cpu.EstimateLoad(f, out.Shape, "auto")
		out.Weights, out.Memory, out.Err = need.Weights, need.Bytes, err
	}
	out.Err = errors.Join(out.Err, f.Close())
	return out
}
