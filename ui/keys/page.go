package keys

import (
	"fmt"
	"io"
	"strings"
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

// WritePage writes docs/keys.md.
func WritePage(w io.Writer) error {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, category := range Categories {
		fmt.Fprintf(&b, "\n## %s\n\n| id | what it does | keys | where | command |\n|---|---|---|---|---|\n", category)
		for _, a := range table {
			if a.Category == category {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", a.ID, a.Help, codes(a.Keys), a.Contexts, commands(a))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func codes(keys []string) string {
	quoted := make([]string, len(keys))
	for i, k := range keys {
		quoted[i] = "`" + k + "`"
	}
	return strings.Join(quoted, " ")
}

func commands(a Action) string {
	if a.Slash == "" {
		return ""
	}
	line := "`" + a.Usage() + "`"
	for _, alias := range a.Aliases {
		line += " `/" + alias + "`"
	}
	return line
}
