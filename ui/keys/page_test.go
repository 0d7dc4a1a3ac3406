package keys_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rookery/ui/keys"
)

const pageHead = `# Keys and commands

This page is generated from the action table in ` + "`ui/keys`" + `; the help screen, the
command palette and the slash commands come from the same table.

Every action can be given other keys in the ` + "`[keys]`" + ` table of the configuration,
by its id; an empty list leaves it without a key:

` + "```toml" + `
[keys]
new_tab = ["ctrl+n", "f7"]
mouse = ["f8"]
copy_code = []
` + "```" + `

A key that types a character works among the messages only. ` + "`ctrl+i`, `ctrl+m` and\n`ctrl+[`" + ` cannot be used: terminals cannot tell them from tab, enter and esc.
`

// makePage is docs/keys.md.
func makePage() []byte {
	var b bytes.Buffer
	b.WriteString(pageHead)
	for _, category := range keys.Categories {
		fmt.Fprintf(&b, "\n## %s\n\n| id | what it does | keys | where | command |\n|---|---|---|---|---|\n", category)
		for _, a := range keys.Actions() {
			if a.Category == category {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", a.ID, a.Help, codes(a.Keys), a.Contexts, command(a))
			}
		}
	}
	return b.Bytes()
}

func codes(names []string) string {
	quoted := make([]string, len(names))
	for i, k := range names {
		quoted[i] = "`" + k + "`"
	}
	return strings.Join(quoted, " ")
}

func command(a keys.Action) string {
	if a.Slash == "" {
		return ""
	}
	line := "`" + a.Usage() + "`"
	for _, alias := range a.Aliases {
		line += " `/" + alias + "`"
	}
	return line
}

func TestPageIsFresh(t *testing.T) {
	page := makePage()
	path := filepath.Join("..", "..", "docs", "keys.md")
	if *update {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page) {
		t.Errorf("%s is stale: run go test ./ui/keys -run TestPageIsFresh -update", path)
	}
}
