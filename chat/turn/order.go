package turn

import "fmt"

// Order puts turns, or what stands for them, into an order in which parents
// come before their children, and leaves a list that is in one as it is. The
// ids alone do not tell: where a clock was set back, that of an answer may be
// smaller than its prompt's. ids returns those of a turn and of its parent. A
// turn whose parent is missing, or that is above itself, is an error.
func Order[T any](turns []T, ids func(*T) (id, parent ID)) ([]T, error) {
	known := make(map[ID]bool, len(turns))
	ordered := true
	for i := range turns {
		id, parent := ids(&turns[i])
		ordered = ordered && (parent == 0 || known[parent])
		known[id] = true
	}
	if ordered {
		return turns, nil
	}
	below := map[ID][]int{} // places, by parent
	for i := range turns {
		id, parent := ids(&turns[i])
		if parent != 0 && !known[parent] {
			return nil, fmt.Errorf("turn %d answers turn %d, which is missing", id, parent)
		}
		below[parent] = append(below[parent], i)
	}
	out := make([]T, 0, len(turns))
	for wait := below[0]; len(wait) > 0; wait = wait[1:] {
		t := &turns[wait[0]]
		out = append(out, *t)
		id, _ := ids(t)
		wait = append(wait, below[id]...)
	}
	if n := len(turns) - len(out); n > 0 {
		return nil, fmt.Errorf("a turn is above itself: %d turns cannot be reached", n)
	}
	return out, nil
}

// OrderTurns is Order of whole turns.
func OrderTurns(turns []Turn) ([]Turn, error) {
	return Order(turns, func(t *Turn) (id, parent ID) { return t.ID, t.Parent })
}
