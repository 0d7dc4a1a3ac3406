package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rookery/chat"
	"rookery/config"
	"rookery/infer/checkpoint"
	"rookery/infer/load"
	"rookery/ui"
)

// modelFiles lists the models that the chat can open: the embedded one, and the files
// beside the one in use, in the directory models of the data directory, and in the
// working directory. The list includes files that cannot be read, with the reason,
// because they may be models.
func modelFiles(c config.Config, cpu bool) ([]ui.ModelFile, error) {
	dirs := []string{filepath.Join(c.Storage.DataDir, "models"), "."}
	if c.Model.Path != "" {
		dirs = slices.Insert(dirs, 0, filepath.Dir(c.Model.Path))
	}
	found, err := load.Find(distinctDirs(dirs))
	if err != nil {
		return nil, err
	}
	list := []ui.ModelFile{modelFile(load.Embedded(), c.Model.Path == "", cpu)}
	for _, m := range found {
		if m.Format != "" && m.Shape.Layers == 0 && m.Err != nil && notAModel(m) {
			continue
		}
		list = append(list, modelFile(m, samePath(m.Path, c.Model.Path), cpu))
	}
	return list, nil
}

// notAModel reports that a file has no embedding, so it is an adapter, a state or
// something else.
func notAModel(m load.Found) bool {
	f, err := checkpoint.Open(m.Path)
	if err != nil {
		return true
	}
	_, ok := f.Tensor("emb.weight")
	return f.Close() != nil || !ok
}

// runsOnCPU reports whether the workspace's model runs on the CPU, and not on a GPU
// with memory of its own.
func runsOnCPU(workspace *chat.Workspace) bool {
	return strings.HasPrefix(workspace.Engine().Stats().Backend, "cpu")
}

// modelFile says what a model is and how much memory it needs; on a CPU also how much
// is free.
func modelFile(m load.Found, current, cpu bool) ui.ModelFile {
	out := ui.ModelFile{Path: m.Path, Name: m.Name, Current: current}
	if m.Err != nil {
		out.Problem = strings.TrimPrefix(m.Err.Error(), m.Path+": ")
		return out
	}
	s := m.Shape
	out.About = fmt.Sprintf("%s · %.1f M · vocab %d", s.Version, float64(s.Params())/1e6, s.Vocab)
	if out.Needs = m.Memory; m.Memory > 0 {
		out.About += " · " + m.Weights + " needs " + bytesText(m.Memory)
		if cpu {
			out.Free = load.AvailableMemory()
		}
		if out.Free > 0 && m.Memory > out.Free && !current {
			out.About += ", " + bytesText(out.Free) + " free"
		}
	}
	return out
}

// distinctDirs removes directories that are named twice.
func distinctDirs(dirs []string) []string {
	var out []string
	for _, d := range dirs {
		if !slices.ContainsFunc(out, func(o string) bool { return samePath(o, d) }) {
			out = append(out, d)
		}
	}
	return out
}

func samePath(a, b string) bool {
	x, err := filepath.Abs(a)
	y, other := filepath.Abs(b)
	return err == nil && other == nil && b != "" && x == y
}
