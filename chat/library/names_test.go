package library_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"rookery/chat/library"
)

func TestFindName(t *testing.T) {
	names := []string{"demo-sad", "demo-animals", "Poet", "demo-poet", "Crow", "crow"}
	for _, c := range []struct{ name, want string }{
		{"demo-sad", "demo-sad"},
		{"sad", "demo-sad"},
		{"SAD", "demo-sad"},
		{"poet", "Poet"}, // a name of a person's own comes before one of the program's
		{"crow", "crow"},
		{"CROW", `"CROW" may be the state Crow or crow`},
		{"saad", `there is no state "saad": did you mean demo-sad?`},
		{"demo-animels", "did you mean demo-animals?"},
		{"zebra", "there are demo-sad, demo-animals, Poet, demo-poet, Crow and crow"},
	} {
		i, err := library.FindName("state", c.name, names)
		if err == nil && names[i] != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %q, %v, want %s", c.name, names[i], err, c.want)
		}
	}
	if _, err := library.FindName("mix", "x", nil); !errors.Is(err, fs.ErrNotExist) || err.Error() != `there is no mix "x": there is none yet` {
		t.Errorf("of no names: %v", err)
	}
}
