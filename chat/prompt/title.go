package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	// titleCells is how wide a title made from a prompt may be, in terminal cells.
	titleCells = 40
	// titleBytes is how much of a prompt is looked at, so that a pasted book
	// costs nothing.
	titleBytes = 4 << 10
)

// MakeTitle makes a title from a prompt: what it asks for, without greetings,
// polite phrases and code, in a few words on one line.
func MakeTitle(text string) string {
	if len(text) > titleBytes {
		text = strings.ToValidUTF8(text[:titleBytes], "")
	}
	text = ansi.Strip(NormalizeLines(text))
	if prose := withoutCode(text); strings.TrimSpace(prose) != "" {
		text = prose
	}
	return shortened(asked(JoinLines(CleanTitle(strings.ReplaceAll(text, "\n", " ")))))
}

// CleanTitle is a title of another program on one line.
func CleanTitle(title string) string {
	if len(title) > titleBytes {
		title = title[:titleBytes]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, ansi.Strip(JoinLines(strings.ToValidUTF8(title, ""))))
}

// greetings are what people say before they say what they want.
var greetings = []string{
	"hello there", "hi there", "hey there", "hello", "hi", "hey", "good morning", "good afternoon", "good evening", "greetings",
	"thanks", "thank you", "你好", "您好", "大家好", "嗨", "早上好", "晚上好", "下午好", "谢谢",
}

// politeness is what stands before the thing that is asked for, the longest first.
var politeness = []string{
	"can you please help me to ", "could you please help me to ", "can you help me to ", "could you help me to ",
	"i would like you to ", "i would like to know ", "i'd like you to ", "i'd like to know ", "i want you to ", "i want to know ",
	"can you please ", "could you please ", "would you please ", "can you tell me ", "could you tell me ", "please help me to ",
	"can you ", "could you ", "would you ", "please tell me ", "please ",
	"请你帮我", "麻烦你帮我", "能不能帮我", "可以帮我", "请帮我", "请问一下", "麻烦你", "能不能", "请问", "帮我", "请你", "请",
}

// asked is a prompt from where it says what it wants. A prompt that is no more
// than a greeting stays one.
func asked(text string) string {
	rest := text
	for again := true; again; {
		again = false
		if after, ok := cutGreeting(rest); ok && after != "" {
			rest, again = after, true
		}
		for _, p := range politeness {
			if after, ok := cutFold(rest, p); ok && utf8.RuneCountInString(after) > 3 {
				rest, again = after, true
				break
			}
		}
	}
	if rest != text {
		first, size := utf8.DecodeRuneInString(rest)
		rest = string(unicode.ToUpper(first)) + rest[size:]
	}
	return rest
}

// SaysMore says that a prompt's title has more than a word.
func SaysMore(text string) bool { return ansi.StringWidth(MakeTitle(text)) >= titleCells/5 }

// IsGreeting says that a prompt is no more than a greeting.
func IsGreeting(text string) bool {
	rest, ok := cutGreeting(JoinLines(text))
	return ok && rest == ""
}

// cutGreeting removes a greeting that ends with a mark, or with the text.
func cutGreeting(text string) (rest string, ok bool) {
	const marks = ",.!?~:;，。！？～：；、"
	for _, g := range greetings {
		after, found := cutFold(text, g)
		if !found {
			continue
		}
		rest = strings.TrimLeft(after, " ")
		if trimmed := strings.TrimLeft(rest, marks+" "); trimmed != rest || rest == "" {
			return trimmed, true
		}
	}
	return text, false
}

// cutFold removes a beginning, whatever its case.
func cutFold(text, start string) (rest string, ok bool) {
	if len(text) < len(start) || !strings.EqualFold(text[:len(start)], start) {
		return text, false
	}
	return text[len(start):], true
}

// shortened is the first sentence, cut between clauses or words if it is too
// wide. The full stop goes; other marks say something.
func shortened(text string) string {
	if end := sentenceEnd(text); end > 0 && ansi.StringWidth(text[:end]) >= titleCells/4 {
		text = text[:end]
	}
	if ansi.StringWidth(text) <= titleCells {
		if !strings.HasSuffix(text, "..") {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "."), "。")
		}
		return text
	}
	cut := ansi.Truncate(text, titleCells-1, "")
	if clause := strings.LastIndexAny(cut, ",;:，；：、"); clause > len(cut)/2 {
		cut = cut[:clause]
	} else if rest := text[len(cut):]; !strings.HasPrefix(rest, " ") {
		if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
			cut = cut[:space]
		}
	}
	return strings.TrimRight(cut, " ") + "…"
}

// sentenceEnd is where the first sentence ends, 0 if nowhere.
func sentenceEnd(text string) int {
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '？', '！':
			return end
		case '.', '?', '!':
			if strings.HasPrefix(text[end:], " ") {
				return end
			}
		}
	}
	return 0
}
