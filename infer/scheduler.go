package infer

// Scheduling policy.
//
// A step has a row for every request that has a slot. Those that decode bring
// one token each, all of them in every step. Those that read share a chunk of
// prompt tokens: one quantum each in turn, until the chunk is used up or all
// have what they want, beginning with another request every step. So a request
// that decodes waits for one chunk at most however much the others have to
// read, and a short prompt does not wait for a long one. How long a chunk is
// depends on whether anything decodes and on how fast the device reads: see
// pace. The backend's MaxTokens bounds the whole step; if it is smaller than
// the number of decoding rows, they take turns too.
//
// A prompt is cut at multiples of a quantum from where its reading began,
// whatever else runs. A backend that works in blocks that divide a quantum
// therefore rounds a prompt alike in company and alone.
//
// Slots are given in the order of submission and kept until the request ends.
// A free slot may hold the state before a possible stop (see mark); a waiting
// request takes it back. A mix has a row for each of its states, all in the
// same steps, and gets all their slots at once.

// quantum is the unit of prompt tokens: 16 rows of a matrix product.
const quantum = 16

// maxChunk bounds what pace asks for. It is beyond what any backend takes.
const maxChunk = 1 << 14

// A plan is the rows of the next step; its slices are reused.
type plan struct {
	rows     []Row
	owners   []*sequence
	drawn    []Drawn
	readers  []reader
	prompt   int // prompt tokens in rows
	decoding int // rows that decode
	draws    int // rows that draw a token
	turn     int // grows with every step: whose turn it is
}

// A reader is a sequence that reads, with the tokens granted to it.
type reader struct {
	q       *sequence
	granted int
	limit   int
}

// fill plans a step for the running sequences.
func (p *plan) fill(running []*sequence, maxTokens int, pace *pace) {
	p.prompt, p.draws = 0, 0
	p.turn++
	decoding := 0
	for _, q := range running {
		if q.steps() {
			decoding += q.rows()
		} else {
			p.readers = append(p.readers, reader{q: q, limit: q.next()})
		}
	}
	room := maxTokens
	if len(p.readers) > 0 {
		room -= min(quantum, maxTokens/2) // decoding rows leave something for them
	}
	p.addDecoding(running, decoding, room)
	p.decoding = len(p.rows)
	p.share(min(pace.chunk(decoding > 0), maxTokens-len(p.rows)))
	for _, r := range p.readers {
		if r.granted > 0 {
			p.add(r.q, r.granted)
			p.prompt += r.granted * r.q.rows()
		}
	}
	for len(p.drawn) < len(p.rows) {
		p.drawn = append(p.drawn, Drawn{})
	}
}

// clear lets go of everything, so that an idle engine holds on to nothing.
func (p *plan) clear() {
	clear(p.rows)
	clear(p.owners)
	clear(p.readers)
	clear(p.drawn)
	p.rows, p.owners, p.readers = p.rows[:0], p.owners[:0], p.readers[:0]
}

// addDecoding adds the decoding sequences; if there is not room for all of
// them, those whose turn it is.
func (p *plan) addDecoding(running []*sequence, decoding, room int) {
	first := 0
	if decoding > room {
		first = p.turn * room
	}
	for i := range running {
		q := running[(first+i)%len(running)]
		if !q.steps() {
			continue
		}
		if len(p.rows) > 0 && len(p.rows)+q.rows() > room {
			return
		}
		p.add(q, 0)
	}
}

// share grants a budget of prompt tokens to the readers, a quantum at a time.
// It cuts a quantum only if the budget is smaller than one.
func (p *plan) share(budget int) {
	started := false
	for progress := true; progress; {
		progress = false
		for i := range p.readers {
			r := &p.readers[(i+p.turn)%len(p.readers)]
			n, rows := min(quantum, r.limit-r.granted), r.q.rows()
			if n*rows > budget && !started {
				n = budget / rows
			}
			if n > 0 && n*rows <= budget {
				r.granted += n
				budget -= n * rows
				progress, started = true, true
			}
		}
	}
}

// steps says that q brings one token to every step.
func (q *sequence) steps() bool { return q.phase == phaseDecoding || q.phase == phaseScoring }

func (p *plan) add(q *sequence, n int) {
	row := q.row(n)
	if row.Sampler != nil {
		p.draws++
	}
	p.owners = append(p.owners, q)
	if q.mix == nil {
		p.rows = append(p.rows, row)
		return
	}
	p.rows = q.mixRows(p.rows, row)
	for len(p.owners) < len(p.rows) {
		p.owners = append(p.owners, nil) // the first row speaks for all
	}
	if row.Sampler == nil && row.Logits != nil && q.drawsAfter(n) {
		p.draws++ // by the engine
	}
}
