package infer

// Scheduling policy.
//
// A step has a row for every request that has a slot. Each decoding request
// brings one token to every step. Reading requests share a chunk of prompt
// tokens: each gets one quantum in turn until the chunk is used up or all have
// what they want, and every step begins with another request. So a decoding
// request waits for one chunk at most, however long the prompts are, and a short
// prompt does not wait for a long one. The length of a chunk depends on whether
// any request decodes and on how fast the device reads: see pace. The backend's
// MaxTokens bounds the whole step; if it is smaller than the number of decoding
// rows, they take turns too.
//
// A prompt is cut at multiples of a quantum from where its reading began,
// whatever else runs. So a backend that works in blocks that divide a quantum
// rounds a prompt alike whether it is alone in the step or not.
//
// Requests get slots in the order of submission and keep them until they end. A
// checkpoint can hold a free slot; a waiting request takes it back. A mix has a
// row for each of its states, all in the same steps, and gets all their slots at
// once.

// quantum is the unit of prompt tokens: 16 rows of a matrix product.
const quantum = 16

// maxChunk bounds the chunk that pace asks for. No backend takes so many tokens.
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
	turn     int // the number of the step; who is first depends on it
}

// A reader is a sequence that reads, with the tokens granted to it of at most
// limit.
type reader struct {
	q       *sequence
	granted int
	limit   int
}

// planStep fills the rows of the next step for the running sequences.
func (p *plan) planStep(running []*sequence, maxTokens int, pace *pace) {
	p.prompt, p.draws = 0, 0
	p.turn++
	decoding := 0
	for _, q := range running {
		if q.decodes() {
			decoding += q.rowCount()
		} else {
			p.readers = append(p.readers, reader{q: q, limit: q.maxRead()})
		}
	}
	room := maxTokens
	if len(p.readers) > 0 {
		room -= min(quantum, maxTokens/2) // decoding rows leave them a part of the step
	}
	p.addDecoding(running, decoding, room)
	p.decoding = len(p.rows)
	p.shareBudget(min(pace.chunk(decoding > 0), maxTokens-len(p.rows)))
	for _, r := range p.readers {
		if r.granted > 0 {
			p.addRow(r.q, r.granted)
			p.prompt += r.granted * r.q.rowCount()
		}
	}
	for len(p.drawn) < len(p.rows) {
		p.drawn = append(p.drawn, Drawn{})
	}
}

// clear drops all references, so that an idle engine keeps no memory alive.
func (p *plan) clear() {
	clear(p.rows)
	clear(p.owners)
	clear(p.readers)
	clear(p.drawn)
	p.rows, p.owners, p.readers = p.rows[:0], p.owners[:0], p.readers[:0]
}

// addDecoding adds the rows of decoding sequences, as many as there is room for,
// beginning with another one every step.
func (p *plan) addDecoding(running []*sequence, decoding, room int) {
	first := 0
	if decoding > room {
		first = p.turn * room
	}
	for i := range running {
		q := running[(first+i)%len(running)]
		if !q.decodes() {
			continue
		}
		if len(p.rows) > 0 && len(p.rows)+q.rowCount() > room {
			return
		}
		p.addRow(q, 0)
	}
}

// shareBudget grants a budget of prompt tokens to the readers, a quantum at a time.
// It cuts a quantum only if the budget is smaller than one.
func (p *plan) shareBudget(budget int) {
	started := false
	for progress := true; progress; {
		progress = false
		for i := range p.readers {
			r := &p.readers[(i+p.turn)%len(p.readers)]
			n, rows := min(quantum, r.limit-r.granted), r.q.rowCount()
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

// decodes says whether q brings one token to every step.
func (q *sequence) decodes() bool { return q.phase == phaseDecoding || q.phase == phaseScoring }

func (p *plan) addRow(q *sequence, n int) {
	row := q.nextRow(n)
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
		p.owners = append(p.owners, nil) // the first row of a mix is the one that the sequence advances by
	}
	if row.Sampler == nil && row.Logits != nil && q.drawsAfter(n) {
		p.draws++ // the engine draws
	}
}
