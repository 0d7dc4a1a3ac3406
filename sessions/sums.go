package sessions

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"rookery/chat/turn"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A sealed is the columns of a turn that its checksum is of.
type sealed struct {
	id, parent     turn.ID
	role           turn.Role
	text, sampling string
	model          string
	tokens         []byte
	recall         []byte    // nil: none
	way            [4]string // what it was made with: base, adapter, its fingerprint, mix
	history        string    // what was read
	sum            uint32
}

// checksum is CRC-32C of the columns, each behind its length.
func (t sealed) checksum() uint32 {
	var b []byte
	b = binary.LittleEndian.AppendUint64(b, uint64(t.parent))
	b = append(b, byte(t.role))
	parts := append([]string{t.text, t.sampling, t.model, string(t.tokens), string(t.recall), t.history}, t.way[:]...)
	for _, part := range parts {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	return crc32.Checksum(b, castagnoli)
}

// checkSums compares turns with their checksums.
func (s *Store) checkSums(ctx context.Context) ([]Problem, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, parent, role, text, sampling, model, tokens, recall, base, adapter, adapter_id, mix, history, sum FROM turns ORDER BY id`)
	if err != nil {
		return nil, err
	}
	var bad []Problem
	var tree []link
	_, err = collect(rows, func(row scanner) (none, error) {
		var t sealed
		err := row.Scan(&t.id, &t.parent, &t.role, &t.text, &t.sampling, &t.model, &t.tokens, &t.recall, &t.way[0], &t.way[1], &t.way[2], &t.way[3], &t.history, &t.sum)
		tree = append(tree, link{t.id, t.parent})
		if err == nil && t.checksum() != t.sum {
			bad = append(bad, Problem{What: fmt.Sprintf("turn %d is not as it was written: its checksum does not match", t.id), Lost: true})
		}
		return none{}, err
	})
	return append(bad, findCircles(tree)...), err
}

// A link is a turn and the one above it.
type link struct{ id, parent turn.ID }

// findCircles says whether turns are above themselves. Ids do not tell: those of
// answers may be smaller than their prompts', where a clock was set back.
func findCircles(tree []link) []Problem {
	known := make(map[turn.ID]bool, len(tree))
	for _, l := range tree {
		known[l.id] = true
	}
	for i := range tree {
		if !known[tree[i].parent] {
			tree[i].parent = 0 // another check is of those that are missing
		}
	}
	if _, err := turn.Order(tree, func(l *link) (id, parent turn.ID) { return l.id, l.parent }); err != nil {
		return []Problem{{What: err.Error(), Lost: true}}
	}
	return nil
}
