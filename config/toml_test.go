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

// FuzzNesting repeats any text: a file of 64 KB is read or refused quickly, whatever
// is in it.
func FuzzNesting(f *testing.F) {
	for _, marks := range [][2]string{{"[", "]"}, {"{a=", "}"}, {"a.", ""}, {`"a".`, ""}, {"[[a]]\n", ""}, {"'''", "'''"}, {"a = 1\n", ""}} {
		f.Add("a = "+marks[0], marks[0], marks[1], uint16(20_000))
	}
	f.Fuzz(func(t *testing.T, head, open, shut string, depth uint16) {
		n := int(depth) % (64 << 10 / (len(open) + len(shut) + 1))
		text := head + strings.Repeat(open, n) + "1" + strings.Repeat(shut, n)
		var into map[string]any
		start := time.Now()
		_, err := Decode([]byte(text), &into)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%d times %q and %q after %q: %v, %v", n, open, shut, head, took, err)
		}
	})
}
