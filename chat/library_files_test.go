package chat_test

import (
	"os"
	"testing"

	"rookery/chat"
	"rookery/infer/statefile"
)

func writeState(t *testing.T, path string, s chat.State, format statefile.Format) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	must(t, s.Write(f, format))
	must(t, f.Close())
}
