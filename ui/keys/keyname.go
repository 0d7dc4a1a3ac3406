package keys

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// named are the keys that are not written as one character.
var named = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("enter tab backspace esc space up down left right begin find insert delete select pgup pgdown home end " +
		"menu pause printscreen mediaplay mediapause mediastop medianext mediaprev") {
		m[n] = true
	}
	for i := 1; i <= 63; i++ {
		m[fmt.Sprintf("f%d", i)] = true
	}
	return m
}()

// unusable are keys that a terminal cannot tell from another key, or that
// begin an escape sequence.
var unusable = map[string]string{
	"ctrl+i":      "terminals cannot tell it from tab",
	"ctrl+m":      "terminals cannot tell it from enter",
	"ctrl+[":      "terminals cannot tell it from esc",
	"alt+[":       "it begins an escape sequence",
	"alt+]":       "it begins an escape sequence",
	"alt+shift+o": "it begins an escape sequence",
}

// modifiers in the order in which the terminal library names them.
var modifiers = []string{"ctrl", "alt", "shift", "meta", "hyper", "super"}

// Normalize writes a key the way key presses are named: modifiers in a fixed
// order, names in lower case, a shifted letter as its capital. It refuses names
// that no key press can have.
func Normalize(name string) (string, error) {
	base, mods := name, map[string]bool{}
	for {
		i := strings.IndexByte(base, '+')
		if i <= 0 || i == len(base)-1 {
			break
		}
		mod := strings.ToLower(base[:i])
		if mod == "control" {
			mod = "ctrl"
		}
		if !slices.Contains(modifiers, mod) {
			return "", fmt.Errorf("%q is not a key: %q is not one of %s", name, base[:i], strings.Join(modifiers, ", "))
		}
		mods[mod] = true
		base = base[i+1:]
	}
	base, err := normalizeBase(name, base, mods)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, m := range modifiers {
		if mods[m] {
			b.WriteString(m + "+")
		}
	}
	key := b.String() + base
	if why, bad := unusable[key]; bad {
		return "", fmt.Errorf("%q cannot be used: %s; choose another key", name, why)
	}
	return key, nil
}

// normalizeBase is Normalize for what is left without modifiers, which it may
// change: a capital is its letter with shift when other modifiers are held.
func normalizeBase(name, base string, mods map[string]bool) (string, error) {
	if utf8.RuneCountInString(base) != 1 {
		low := strings.ToLower(base)
		switch low {
		case "escape":
			low = "esc"
		case "return":
			low = "enter"
		case "pageup":
			low = "pgup"
		case "pagedown":
			low = "pgdown"
		case "del":
			low = "delete"
		}
		if !named[low] {
			return "", fmt.Errorf("%q is not a key: write one character or a name such as enter, tab, f5, pgup, with ctrl+, alt+ or shift+ before it", name)
		}
		return low, nil
	}
	r, _ := utf8.DecodeRuneInString(base)
	if r == ' ' {
		return "space", nil
	}
	if !unicode.IsPrint(r) {
		return "", fmt.Errorf("%q is not a key: its character cannot be printed", name)
	}
	alone := len(mods) == 0 || len(mods) == 1 && mods["shift"]
	switch {
	case alone && mods["shift"]:
		delete(mods, "shift")
		return string(unicode.ToUpper(r)), nil
	case !alone && unicode.IsUpper(r):
		mods["shift"] = true
		return string(unicode.ToLower(r)), nil
	}
	return base, nil
}

// Printable reports whether a normalized key types a character.
func Printable(key string) bool {
	return key == "space" || utf8.RuneCountInString(key) == 1
}
