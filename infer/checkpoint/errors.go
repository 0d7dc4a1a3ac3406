package checkpoint

import (
	"errors"
	"fmt"
	"strconv"
)

// A FormatError says why a file was refused, in one line: the file, the tensor
// if one is to blame, what is wrong and what to do about it.
type FormatError struct {
	Path    string
	Tensor  string // as written in the file; empty when the file as a whole is wrong
	Problem string
	Remedy  string // empty when there is nothing better than another file
}

func (e *FormatError) Error() string {
	s := e.Problem
	if e.Tensor != "" {
		s = "tensor " + quoted(e.Tensor) + ": " + s
	}
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Remedies that several refusals share.
const (
	downloadAgain = "the file is damaged or incomplete, download it again"
	useRelease    = "use the .pth of the release"
)

// refuse makes a FormatError about the file as a whole.
func refuse(remedy, format string, args ...any) error {
	return &FormatError{Problem: fmt.Sprintf(format, args...), Remedy: remedy}
}

// refuseTensor makes a FormatError about one tensor.
func refuseTensor(name, remedy, format string, args ...any) error {
	return &FormatError{Tensor: name, Problem: fmt.Sprintf(format, args...), Remedy: remedy}
}

// inFile puts the file's path into a refusal, and in front of any other error.
func inFile(path string, err error) error {
	var fe *FormatError
	if errors.As(err, &fe) {
		fe.Path = path
		return fe
	}
	return fmt.Errorf("%s: %w", path, err)
}

// quoted makes a name from a file fit to print: escapes made harmless, and not
// longer than a line bears.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "..."
	}
	return strconv.QuoteToASCII(s)
}
