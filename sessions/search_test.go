package sessions

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"rookery/chat/turn"
)

// say stores one conversation with the given turns and returns their ids.
func say(t testing.TB, s *Store, id turn.ID, title string, texts ...string) turn.Conversation {
	t.Helper()
	c := conversation(id)
	c.Title = title
	for i, text := range texts {
		next := makeTurn(id+turn.ID(i)+1, 0, text)
		if i > 0 {
			next.Parent = next.ID - 1
		}
		c.Head, c.Tip = next.ID, next.ID
		if err := s.CommitTurn(t.Context(), c, next, nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// results are the snippets found, with the matches in brackets.
func results(t *testing.T, s *Store, query string) (list []string) {
	t.Helper()
	found, err := s.Search(t.Context(), query, 50)
	if err != nil {
		t.Fatalf("searching for %q: %v", query, err)
	}
	for _, f := range found {
		text, at := "", 0
		for _, m := range f.Marks {
			text += f.Snippet[at:m[0]] + "[" + f.Snippet[m[0]:m[1]] + "]"
			at = m[1]
		}
		list = append(list, fmt.Sprintf("%d %s", f.Turn, text+f.Snippet[at:]))
	}
	return list
}

func TestSearch(t *testing.T) {
	s := open(t, t.TempDir())
	say(t, s, 100, "On birds", "Where does a Rook\n\nnest?", "A rook nests in tall trees, and rooks in a rookery.", "nest of a rook? 白嘴鸦在高树上筑巢")
	say(t, s, 200, "群居的鸟", "ｈｅｌｌｏ ÜBER 100%", `a"b OR c* NEAR(x) ^d {e} -f`, "x_y\x00z\tend")
	for query, want := range map[string][]string{
		"rook nest":     {"102 A [rook] [nest]s in tall trees, and [rook]s in a [rook]ery.", "101 Where does a [Rook] [nest]?", "103 [nest] of a [rook]? 白嘴鸦在高树上筑巢"},
		"nest  OF":      {"103 [nest] [of] a rook? 白嘴鸦在高树上筑巢"},
		"高树":            {"103 nest of a rook? 白嘴鸦在[高树]上筑巢"},
		"筑巢":            {"103 nest of a rook? 白嘴鸦在高树上[筑巢]"},
		"巢":             {"103 nest of a rook? 白嘴鸦在高树上筑[巢]"},
		"白嘴鸦在":          {"103 nest of a rook? [白嘴鸦在]高树上筑巢"},
		"居的":            {"0 群[居的]鸟"},
		"BIRDS":         {"0 On [birds]"},
		"hello über":    {"201 [ｈｅｌｌｏ] [ÜBER] 100%"},
		"100%":          {"201 ｈｅｌｌｏ ÜBER [100%]"},
		`"b or c*`:      {`202 a["b] [OR] [c*] NEAR(x) ^d {e} -f`},
		"NEAR(x)":       {`202 a"b OR c* [NEAR(x)] ^d {e} -f`},
		"^d":            {`202 a"b OR c* NEAR(x) [^d] {e} -f`},
		"-f":            {`202 a"b OR c* NEAR(x) ^d {e} [-f]`},
		"x_y":           {"203 [x_y] z end"},
		"xay":           nil,
		"z end":         {"203 x_y [z] [end]"},
		"rook owl":      nil,
		"%%%":           nil,
		" \n\t ":        nil,
		`' OR 1=1; --`:  nil,
		"\x01\x01":      nil,
		"\xff\xfe":      nil,
		"rookery title": nil,
	} {
		if got := results(t, s, query); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q finds\n%q, want\n%q", query, got, want)
		}
	}
	if found, err := s.Search(t.Context(), strings.Repeat("rook ", 1e5), 3); err != nil || len(found) != 3 {
		t.Errorf("a long query: %d, %v", len(found), err)
	}
}

func TestSearchFollowsTheStore(t *testing.T) {
	s := open(t, t.TempDir())
	c := say(t, s, 100, "old title", "a first text", "an answer")
	grown := makeTurn(102, 101, "an answer that has grown")
	c.Title = "new title"
	must(t, s.CommitTurn(t.Context(), c, grown, nil))
	s = reopen(t, s)
	for query, want := range map[string]int{"old title": 0, "new title": 1, "grown": 1, "answer": 1, "first text": 1} {
		if got := results(t, s, query); len(got) != want {
			t.Errorf("%q finds %q", query, got)
		}
	}
	c.Deleted = time.Now()
	must(t, s.SaveConversation(t.Context(), c))
	if got := results(t, s, "answer"); len(got) != 0 {
		t.Errorf("found in the bin: %q", got)
	}
	must(t, s.Delete(t.Context(), 100))
	say(t, s, 100, "again", "nothing of that")
	if got := results(t, s, "answer"); len(got) != 0 {
		t.Errorf("found what was deleted: %q", got)
	}
}

// A damaged index costs no turn and is made anew.
func TestBrokenIndexIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	say(t, s, 100, "title", "the text before")
	_, err := s.write.ExecContext(t.Context(), `UPDATE search_data SET block = zeroblob(length(block))`)
	must(t, err)
	s = reopen(t, s)
	say(t, s, 200, "another", "the text after")
	for end := time.Now().Add(tolerance); ; time.Sleep(10 * time.Millisecond) {
		found, err := s.Search(t.Context(), "the text", 10)
		if err == nil && len(found) == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the index stays broken: %v, %v", found, err)
		}
	}
}

// tale makes turns of some hundred words.
func tale(r *rand.Rand, words []string) string {
	var b strings.Builder
	for range 60 + r.IntN(200) {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(8) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// BenchmarkSearch searches 10,000 turns of Latin and Chinese text.
func BenchmarkSearch(b *testing.B) {
	const turns = 10_000
	dir := b.TempDir()
	s, err := Open(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var words []string
	for range 3000 {
		w := make([]byte, 2+r.IntN(8))
		for i := range w {
			w[i] = byte('a' + r.IntN(26))
		}
		words = append(words, string(w))
		hans := make([]rune, 1+r.IntN(3))
		for i := range hans {
			hans[i] = rune(0x4e00 + r.IntN(1500))
		}
		words = append(words, string(hans))
	}
	start := time.Now()
	size := 0
	for id := turn.ID(0); id < turns; id += 20 {
		texts := make([]string, 20)
		for i := range texts {
			texts[i] = tale(r, words)
			size += len(texts[i])
		}
		say(b, s, 1000+30*id, "title", texts...)
	}
	b.Logf("%d turns, %d KB of text, stored in %v", turns, size>>10, time.Since(start))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d KB on disk", info.Size()>>10)
	if s, err = Open(b.Context(), dir); err != nil {
		b.Fatal(err)
	}
	for _, query := range []string{words[100] + " " + words[102], words[0], "th", "e", "一丁", "一", "zzzqqq"} {
		b.Run(query, func(b *testing.B) {
			n := 0
			for b.Loop() {
				found, err := s.Search(b.Context(), query, 50)
				if err != nil {
					b.Fatal(err)
				}
				n = len(found)
			}
			b.ReportMetric(float64(n), "found")
		})
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func TestCheckSeesAnIndexOutOfStep(t *testing.T) {
	s := open(t, t.TempDir())
	say(t, s, 100, "title 标题", "some text", "a second, long enough 第二个", "", "x")
	found, err := s.Check(t.Context())
	must(t, err)
	if len(found) > 0 {
		t.Fatalf("in step, but %v", found)
	}
	for _, damage := range []string{
		`UPDATE turns SET text = 'some next' WHERE id = 101`,
		`DELETE FROM search WHERE rowid = -100`,
		`INSERT INTO search (rowid, text) VALUES (777, 'abcdef')`,
	} {
		_, err := s.write.ExecContext(t.Context(), damage)
		must(t, err)
	}
	found, err = s.Check(t.Context())
	if err != nil || len(found) != 4 || !strings.Contains(found[0].What, "checksum") {
		t.Fatalf("%v, %v", found, err)
	}
	for _, p := range found[1:] {
		if p.Lost || !strings.Contains(p.What, "index") {
			t.Errorf("%+v", p)
		}
	}
}
