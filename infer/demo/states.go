package demo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"time"

	"rookery/infer/statefile"
)

//go:embed states/*.pth.gz
var states embed.FS

// tuned are the embedded states: their names and files.
var tuned = []struct{ name, file string }{
	{"demo-animals", "animals"},
	{"demo-dialogue", "dialogue"},
	{"demo-sad", "sad"},
}

// States are the tuned states of the embedded model, always in the same order.
func States() ([]*statefile.State, error) {
	f, err := Open()
	if err != nil {
		return nil, err
	}
	weights := f.Fingerprint()
	if err := f.Close(); err != nil {
		return nil, err
	}
	all := make([]*statefile.State, len(tuned))
	for i, t := range tuned {
		s, err := readState(t.file)
		if err != nil {
			return nil, fmt.Errorf("the embedded state %s: %w", t.name, err)
		}
		s.Name, s.Source, s.Model, s.ModelName, s.Created = t.name, "comes with the program", weights, Name, time.Time{}
		all[i] = s
	}
	return all, nil
}

func readState(name string) (*statefile.State, error) {
	packed, err := states.ReadFile("states/" + name + ".pth.gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return statefile.FromBytes(name, data, statefile.Options{})
}
