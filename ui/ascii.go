package ui

import "strings"

// asciiOnly reports whether the terminal is said to show nothing but ASCII: by
// a locale that is not UTF-8, or by being the Linux console, whose fonts have
// few other characters. A locale that is not set says nothing.
func asciiOnly(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// setASCII draws with ASCII characters alone, or with all again.
func (m *Model) setASCII(on bool) {
	m.ascii = on
	m.applyTheme()
}

// plainer replaces the signs of the interface, each of one cell, that no theme
// gives another form.
var plainer = strings.NewReplacer(
	"·", "-", "…", "~", "✗", "x", "●", "*", "‹", "<", "›", ">", "▌", "|", "▎", "|", "▸", ">", "▾", "v",
	"↑", "^", "↓", "v", "←", "<", "→", ">", "“", `"`, "”", `"`, "‘", "'", "’", "'", "–", "-", "—", "-",
)
