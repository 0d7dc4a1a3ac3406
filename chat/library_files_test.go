package chat_test

import (
	"os"
	"testing"

	"rookery/chat/turn"
	"rookery/infer/statefile"
)

func writeState(t *testing.T, path string, s turn.State, format statefile.Format) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	must(t, s.Write(f, format))
	must(t, f.Close())
}
