package config

import (
	"bytes"
	"strings"
)

// lineOf finds the line, from 1, on which an undecoded key stands. The decoder
// gives positions for syntax errors only. A key inside an inline table is
// found by the line of its table; a key that cannot be found is on line 1.
func lineOf(data []byte, want string) int {
	table := ""
	for n, raw := range bytes.Split(data, []byte("\n")) {
		line := strings.TrimSpace(string(raw))
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(strings.TrimLeft(line, "["), "]")
			table = normal(name)
			if table == want || strings.HasPrefix(table, want+".") {
				return n + 1
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		full := normal(name)
		if table != "" {
			full = table + "." + full
		}
		if full == want || strings.HasPrefix(want, full+".") {
			return n + 1
		}
	}
	return 1
}

// normal removes the blanks and quotes that TOML allows in a dotted key.
func normal(key string) string {
	parts := strings.Split(key, ".")
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), `"'`)
	}
	return strings.Join(parts, ".")
}
