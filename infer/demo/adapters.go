package demo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"

	"rookery/infer/adapter"
	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

//go:embed adapters/*.pth.gz
var adapters embed.FS

// An Adapter is an embedded adapter of the embedded model.
type Adapter struct {
	Name, About string
	file        string
	alpha       float32
}

// Adapters are the embedded adapters, always in the same order.
var Adapters = []Adapter{
	{"demo-pirate", "tells it like a pirate", "pirate", 32},
	{"demo-excited", "with many exclamation marks", "excited", 0},
}

// OpenAdapter reads an embedded adapter by its name. It uses only Strength of o. For an
// unknown name the error is fs.ErrNotExist.
func OpenAdapter(name string, o adapter.Options) (*adapter.Adapter, error) {
	for _, a := range Adapters {
		if a.Name == name {
			read, err := a.read(adapter.Options{Alpha: a.alpha, Strength: o.Strength})
			if err != nil {
				return nil, fmt.Errorf("the embedded adapter %s: %w", name, err)
			}
			read.Name = name
			return read, nil
		}
	}
	return nil, fmt.Errorf("no adapter %s comes with the program: %w", name, fs.ErrNotExist)
}

func (a Adapter) read(o adapter.Options) (*adapter.Adapter, error) {
	packed, err := adapters.ReadFile("adapters/" + a.file + ".pth.gz")
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
	model, err := Open()
	if err != nil {
		return nil, err
	}
	s, err := rwkv.Detect(model)
	if err != nil {
		return nil, err
	}
	f, err := checkpoint.FromBytes(a.Name, data)
	if err != nil {
		return nil, err
	}
	return adapter.Read(f, s, adapter.BaseOf(model), o)
}
