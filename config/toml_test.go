package config

import (
	"strings"
	"testing"
	"time"
)

// The TOML library needs the square of the nesting; it is refused before.
func TestDeepTOMLIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"arrays":      "a = " + strings.Repeat("[", 125_000),
		"tables":      "a = " + strings.Repeat("{a=", 80_000),
		"names":       strings.Repeat("a.", 125_000) + "a = 1",
		"quoted":      strings.Repeat(`"a".`, 60_000) + "a = 1",
		"headers":     "[" + strings.Repeat("a.", 125_000) + "a]",
		"long string": `a = """x"""` + "\nb = " + strings.Repeat("[", 125_000),
	} {
		start := time.Now()
		_, err := Parse("file", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "nest deeper than 16") {
			t.Errorf("%s: %.200v", name, err)
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("%s: refused after %v", name, d)
		}
	}
}

func TestNestingInTextDoesNotCount(t *testing.T) {
	deep := strings.Repeat("[.", 100)
	for _, text := range []string{
		"a = '" + deep + "'", `a = "\"` + deep + `"`, `a = """` + deep + "\n" + `""" # ` + deep, "a = '''\n" + deep + "'''",
		"# " + deep, "a = 1.5\nb = 2.5", "a = [[1], [2], [3]]",
	} {
		if line := deepLine([]byte(text)); line != 0 {
			t.Errorf("%q nests too deep on line %d", text, line)
		}
	}
	if line := deepLine([]byte("a = \"\"\"\n\n\"\"\"\n\n" + deep)); line != 5 {
		t.Errorf("line %d, not 5", line)
	}
}
