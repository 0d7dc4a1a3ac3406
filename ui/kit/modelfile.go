package kit

import "errors"

// A ModelFile is a model that can be chosen.
type ModelFile struct {
	Path    string // "" is the embedded one
	Name    string
	About   string // what it is and needs, in a few words
	Problem string // why it cannot be run, without its path, or empty
	Current bool   // it runs
	Needs   int64  // bytes of memory, on a processor; 0: not known
	Free    int64  // that there were when it was looked at; 0: not known
}

// Err is why the model cannot be run, or nil.
func (f ModelFile) Err() error {
	if f.Problem == "" {
		return nil
	}
	return errors.New(f.Path + ": " + f.Problem)
}

// AboutModel says what a model is, or why it cannot be run.
func AboutModel(f ModelFile) string {
	if f.Problem != "" {
		return OneLine("cannot be run: " + f.Problem)
	}
	return OneLine(f.About)
}
