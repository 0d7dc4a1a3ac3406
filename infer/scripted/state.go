package scripted

// A state is the canonical state of a model of ModelWith's shape, with the fake's own
// content:
//
//	[0:4]   a hash of all tokens consumed, 16 bits each
//	[4]     the answer being given, counted from 1; 0 is none
//	[5]     how many of its tokens were consumed
//	[6]     how many bytes of the window are used
//	[8:]    the window: the last bytes consumed, oldest first
type state []float32

const (
	atAnswer = 4
	atCursor = 5
	atUsed   = 6
	atWindow = 8
)

func (s state) hash() uint64 {
	return uint64(s[0]) | uint64(s[1])<<16 | uint64(s[2])<<32 | uint64(s[3])<<48
}

func (s state) setHash(h uint64) {
	for i := range 4 {
		s[i] = float32(h >> (16 * i) & 0xffff)
	}
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// consume moves the state past a token with the given bytes, read with an
// adapter of the given salt.
func (s state) consume(id int32, salt uint64, text []byte, script *script) {
	s.setHash(mix(s.hash() ^ uint64(id)<<32 ^ uint64(id) ^ salt))
	s.push(text)
	if script.follows(s, id) {
		s[atCursor]++
		return
	}
	if s[atCursor] > 0 { // the token is not the answer's
		s[atAnswer], s[atCursor] = 0, 0
	}
	if s.endsWith(script.cue) {
		s[atAnswer], s[atCursor] = float32(script.chosen(s.window())), 0
	}
}

// push adds bytes to the window.
func (s state) push(text []byte) {
	w := s[atWindow:]
	text = text[max(0, len(text)-len(w)):]
	used := int(s[atUsed])
	if over := used + len(text) - len(w); over > 0 {
		copy(w, w[over:used])
		used -= over
	}
	for _, b := range text {
		w[used] = float32(b)
		used++
	}
	s[atUsed] = float32(used)
}

func (s state) endsWith(text string) bool {
	used := int(s[atUsed])
	if used < len(text) {
		return false
	}
	tail := s[atWindow+used-len(text):]
	for i := range len(text) {
		if byte(tail[i]) != text[i] {
			return false
		}
	}
	return true
}

// window is the bytes of the window.
func (s state) window() string {
	b := make([]byte, int(s[atUsed]))
	for i := range b {
		b[i] = byte(s[atWindow+i])
	}
	return string(b)
}
