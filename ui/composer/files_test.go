package composer_test

import (
	"os"
	"strings"
	"testing"

	"rookery/chat/turn"
	"rookery/ui/uitest"
)

// write writes a file of the folder that the test works in.
func write(t *testing.T, name, text string) {
	t.Helper()
	uitest.Must(t, os.WriteFile(name, []byte(text), 0o600))
}

func TestFilesAreCompletedCountedAndSent(t *testing.T) {
	t.Chdir(t.TempDir())
	uitest.Run(t, func(t *testing.T) {
		write(t, "notes.md", "Rooks nest in trees.")
		write(t, "my numbers.csv", "a,b\n1,2\n")
		uitest.Must(t, os.Mkdir("src", 0o700))
		write(t, "src/main.go", "package main\n")
		term := open(t)

		term.Type("Sum up @no")
		term.Sees("notes.md  20 bytes")
		term.Press("enter")
		term.Sees("› Sum up @notes.md")
		term.Sees("notes.md  39 tokens") // the scripted model has a token for each byte
		term.Sees("alt+shift+b reads the 39 tokens once, into a state to begin from")

		term.Type("and @s")
		term.Press("tab")
		term.Sees("src/main.go  13 bytes", "and @src/")
		term.Press("tab")
		term.Type("and @num")
		term.Press("tab")
		term.Sees(`› Sum up @notes.md and @src/main.go and @"my numbers.csv"`)
		term.Sees("notes.md  39 tokens", "src/main.go  ", "my numbers.csv  ")

		write(t, "notes.md", "Rooks nest in colonies.") // changed since it was counted
		term.Press("enter")
		checkSent(t, term, "Sum up notes.md and src/main.go and my numbers.csv\n\nnotes.md:\n```md\nRooks nest in colonies.\n```\n\n"+
			"src/main.go:\n```go\npackage main\n```\n\nmy numbers.csv:\n```csv\na,b\n1,2\n```")
		term.Sees("sent with 3 files")
		term.Press("up")
		term.Sees("› Sum up @notes.md and")
	})
}

func TestAFileThatCannotBeSentKeepsThePrompt(t *testing.T) {
	t.Chdir(t.TempDir())
	uitest.Run(t, func(t *testing.T) {
		write(t, "paper.txt", "%PDF-1.7")
		term := open(t)
		term.Type("Sum up @paper.txt ")
		term.Sees("paper.txt is a PDF: name its text")
		term.Press("enter")
		term.Sees("› Sum up @paper.txt", "✗ paper.txt is a PDF")
		if sent := prompts(term); len(sent) > 0 {
			t.Errorf("sent %q", sent)
		}
		term.Press("ctrl+u", "esc")
		term.Type("ask @nobody about @gone.md")
		term.Sees("@gone.md  there is no such file")
		term.Press("enter")
		checkSent(t, term, "ask @nobody about @gone.md")
	})
}

func TestFilesAreReadOnceIntoAState(t *testing.T) {
	t.Chdir(t.TempDir())
	uitest.Run(t, func(t *testing.T) {
		turn.Met(turn.LastBuiltIn) // in the year 2000 ids are still those of built-in states
		write(t, "book.txt", strings.Repeat("Rooks nest in trees. ", 20))
		term := open(t)
		begin := func(want string) {
			t.Helper()
			term.Type("Who nests, says @book.txt")
			term.Press("alt+shift+b")
			term.Sees("from book.txt ", want) // the base state in the rule
			term.Sees("› Who nests, says book.txt")
			term.Press("enter")
			term.Await(uitest.Answer)
		}
		begin("read 441 tokens into “book.txt ")
		term.Press("ctrl+t")
		term.Type("@./book.txt ")
		term.Sees("begins from “book.txt ", "0 tokens")
		term.Press("ctrl+u")
		begin("441 tokens that need not be read again")
		term.Press("ctrl+t")
		write(t, "book.txt", "Another text.")
		begin("read 33 tokens into “book.txt ")
	})
}
