package library

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"rookery/chat/turn"
)

// builtInPrefix begins the names of what comes with the program. People may leave
// it out.
const builtInPrefix = "demo-"

// A NameError says that nothing of a kind has a name. It is fs.ErrNotExist.
type NameError struct {
	What, Name string
	Have       []string // the names that there are
}

func (e *NameError) Error() string {
	no := fmt.Sprintf("there is no %s %q", e.What, e.Name)
	switch near := nearestName(e.Name, e.Have); {
	case near != "":
		return no + ": did you mean " + near + "?"
	case len(e.Have) > 0:
		return no + ": there " + turn.ListNames(e.Have)
	}
	return no + ": there is none yet"
}

// Is makes it fs.ErrNotExist.
func (e *NameError) Is(target error) bool { return target == fs.ErrNotExist }

// FindName finds the one of the names that a person means: the name itself, else
// the only one that differs in case alone, else the only one that differs in the
// prefix of what comes with the program too. what says in errors what has the names.
func FindName(what, name string, names []string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	for _, same := range []func(have string) bool{
		func(have string) bool { return strings.EqualFold(have, name) },
		func(have string) bool { return strings.EqualFold(strings.TrimPrefix(have, builtInPrefix), name) },
	} {
		i := slices.IndexFunc(names, same)
		if i < 0 {
			continue
		}
		if j := slices.IndexFunc(names[i+1:], same); j >= 0 {
			return 0, fmt.Errorf("%q may be the %s %s or %s: write which one", name, what, names[i], names[i+1+j])
		}
		return i, nil
	}
	return 0, &NameError{What: what, Name: name, Have: names}
}

// nearestName is the name that takes the fewest changes of letters to write, or ""
// if all take too many. The prefix need not be written.
func nearestName(name string, names []string) string {
	written := []rune(strings.ToLower(name))
	best, least := "", max(1, len(written)/3)+1
	for _, have := range names {
		folded := strings.ToLower(have)
		for _, form := range []string{folded, strings.TrimPrefix(folded, builtInPrefix)} {
			if n := countEdits(written, []rune(form)); n < least {
				best, least = have, n
			}
		}
	}
	return best
}

// countEdits is the Levenshtein distance: how many letters to insert, delete or
// replace to make one word of the other.
func countEdits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
