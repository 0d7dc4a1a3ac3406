package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestTitles(t *testing.T) {
	cases := map[string]string{
		"hello":  "hello",
		"Hello!": "Hello!",
		"Hi there, can you please tell me how rooks nest?":                              "Tell me how rooks nest?",
		"Tell me a story about a brave cat.":                                            "Tell me a story about a brave cat",
		"Good morning! Please help me to sort a list in Go. It is long.":                "Sort a list in Go",
		"你好！请问乌鸦怎么筑巢？它们住在哪里？":                                                           "乌鸦怎么筑巢？",
		"请帮我写一首关于乌鸦的诗。":                                                                 "写一首关于乌鸦的诗",
		"What does this do?\n```go\nfunc main() {}\n```\nBriefly.":                      "What does this do?",
		"```go\nfunc main() {}\n```":                                                    "```go func main() {} ```",
		"I have a list of numbers, and I need to sort it by size, then by age, quickly": "I have a list of numbers…",
		"Pneumonoultramicroscopicsilicovolcanoconiosisandmore of it":                    "Pneumonoultramicroscopicsilicovolcanoco…",
		"Version 1.5 or 2.0?":                                                           "Version 1.5 or 2.0?",
		"Wait... what?":                                                                 "Wait... what?",
		"Hit me with a hard one.":                                                       "Hit me with a hard one",
		"Please":                                                                        "Please",
		"  \x1b[31mred\x1b[m\tone ":                                                     "red one",
	}
	for prompt, want := range cases {
		if got := MakeTitle(prompt); got != want {
			t.Errorf("%q has the title %q, want %q", prompt, got, want)
		}
	}
}

func FuzzTitle(f *testing.F) {
	f.Add("Hi, please, 请问 ```\ncode. More! ")
	f.Add(strings.Repeat("长", 2000))
	f.Fuzz(func(t *testing.T, prompt string) {
		title := MakeTitle(prompt)
		if w := ansi.StringWidth(title); w > 40 || utf8.ValidString(prompt) && !utf8.ValidString(title) || strings.ContainsAny(title, "\n\r") {
			t.Errorf("%q is %d wide", title, w)
		}
	})
}
