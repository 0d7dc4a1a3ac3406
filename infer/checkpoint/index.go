package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"rookery/untrusted"
)

// Limits of an index, and of how many files a model has.
const (
	maxIndex  = 16 << 20
	maxShards = 512
)

// isIndex says whether a file may be the index of a model in several files, as the
// transformers package writes it: model.safetensors.index.json.
func isIndex(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".index.json") }

// openIndex opens the files that an index names, which lie beside it, as one.
func openIndex(path string) (*File, error) {
	data, err := untrusted.Read(context.Background(), path, maxIndex)
	if err != nil {
		return nil, err
	}
	var index struct {
		Weights map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, inFile(path, refuse(downloadAgain, "the index cannot be read (%v)", err))
	}
	shards := map[string]bool{}
	for tensor, name := range index.Weights {
		if name != filepath.Base(name) || name == "." || name == ".." || strings.Contains(name, `\`) {
			return nil, inFile(path, refuseTensor(tensor, useRelease, "it should lie in %s, which is no file beside the index", quoted(name)))
		}
		shards[name] = true
	}
	if len(shards) == 0 || len(shards) > maxShards {
		return nil, inFile(path, refuse(downloadAgain, "the index names %d files, 1 to %d are read", len(shards), maxShards))
	}
	names := make([]string, 0, len(shards))
	for name := range shards {
		names = append(names, name)
	}
	slices.Sort(names)
	f := &File{path: path, byName: map[string]*Tensor{}}
	for _, name := range names {
		if err := f.addShard(filepath.Join(filepath.Dir(path), name)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	for tensor, name := range index.Weights {
		if _, ok := f.byName[tensor]; !ok {
			err := refuseTensor(tensor, downloadAgain, "it should lie in %s and does not", quoted(name))
			return nil, errors.Join(inFile(path, err), f.Close())
		}
	}
	if err := f.settle(); err != nil {
		return nil, errors.Join(inFile(path, err), f.Close())
	}
	return f, nil
}

// addShard adds the tensors of a file under the names that it has for them.
func (f *File) addShard(path string) error {
	part, err := openFile(path)
	if err != nil {
		return err
	}
	f.shards = append(f.shards, part)
	f.length += part.length
	f.format = part.format + ", sharded"
	f.members = append(f.members, part.members...)
	for _, t := range part.order {
		if err := f.add(t); err != nil {
			return inFile(path, err)
		}
	}
	return nil
}
