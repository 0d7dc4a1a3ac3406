package prompt

import "strings"

// withoutCode leaves out fenced blocks of code.
func withoutCode(text string) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return text
	}
	var kept []string
	fence := ""
	for _, line := range strings.Split(text, "\n") {
		run := fenceRun(strings.TrimLeft(line, " "))
		switch {
		case fence == "" && len(run) >= 3:
			fence = run
		case fence == "":
			kept = append(kept, line)
		case len(run) >= len(fence) && run[0] == fence[0]:
			fence = ""
		}
	}
	return strings.Join(kept, "\n")
}

// OpenFence is what closes a code fence that an interrupted text leaves open,
// or "".
func OpenFence(text string) string {
	fence := ""
	for _, l := range strings.Split(text, "\n") {
		rest := strings.TrimLeft(l, " ")
		run := fenceRun(rest)
		switch {
		case len(l)-len(rest) > 3 || len(run) < 3:
		case fence == "":
			fence = run
		case run[0] == fence[0] && len(run) >= len(fence) && strings.TrimSpace(rest[len(run):]) == "":
			fence = ""
		}
	}
	return fence
}

// fenceRun is the run of backticks or tildes a line begins with.
func fenceRun(l string) string {
	if l == "" || l[0] != '`' && l[0] != '~' {
		return ""
	}
	return l[:len(l)-len(strings.TrimLeft(l, l[:1]))]
}
