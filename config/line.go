package config

import (
	"bytes"
	"strings"
)

// lineOf returns the line, from 1, of a key that was not decoded, because the decoder
// gives positions only for syntax errors. For a key inside an inline table it returns
// the line of the table, and 1 for a key that it cannot find.
func lineOf(data []byte, want string) int {
	table := ""
	for n, raw := range bytes.Split(data, []byte("\n")) {
		line := strings.TrimSpace(string(raw))
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(strings.TrimLeft(line, "["), "]")
			table = normalizeKey(name)
			if table == want || strings.HasPrefix(table, want+".") {
				return n + 1
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		full := normalizeKey(name)
		if table != "" {
			full = table + "." + full
		}
		if full == want || strings.HasPrefix(want, full+".") {
			return n + 1
		}
	}
	return 1
}

// normalizeKey returns a dotted key without the blanks and quotes that TOML allows.
func normalizeKey(key string) string {
	parts := strings.Split(key, ".")
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), `"'`)
	}
	return strings.Join(parts, ".")
}
