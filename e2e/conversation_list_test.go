package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// talks are conversations of another program, for an import.
const talks = `[
 {"title": "How rooks nest", "conversations": [
   {"from": "human", "value": "How do rooks nest?"}, {"from": "gpt", "value": "In colonies, high up in trees."},
   {"from": "human", "value": "Why?"}, {"from": "gpt", "value": "There a magpie cannot reach them."}]},
 {"title": "两只乌鸦", "conversations": [{"from": "human", "value": "讲个故事"}, {"from": "gpt", "value": "很久以前，有一只乌鸦住在树上。"}]},
 {"title": "Third one", "conversations": [{"from": "human", "value": "Three?"}, {"from": "gpt", "value": "Yes."}]}]`

// openConversationList imports talks and opens the conversation list.
func openConversationList(t *testing.T, width, height int) *terminal {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, "talks.json")
	if err := os.WriteFile(path, []byte(talks), 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, width, height, home, "--seed", "1", "--max-tokens", "20")
	x.see(composerHint)
	x.typed("/import " + path)
	x.keys("Enter")
	x.see("3 imported")
	x.keys("C-o")
	x.see("Conversations (3)", "Today", "How rooks nest", "两只乌鸦", "enter open")
	return x
}

func TestConversationListOpensAtTheFoundTurn(t *testing.T) {
	x := openConversationList(t, 80, 24)
	x.typed("magpie")
	x.see("In the messages", "There a magpie cannot")
	x.keys("Enter")
	x.see("There a magpie cannot reach them.", "How do rooks nest?")
	x.gone("In the messages")
	x.keys("C-o")
	x.typed("乌鸦")
	x.see("In the messages", "有一只乌鸦住在树上")
	x.keys("Down", "Enter")
	x.see("讲个故事", "3 两只乌鸦")
}

func TestConversationListKeys(t *testing.T) {
	x := openConversationList(t, 100, 30)
	x.typed("third")
	x.see("Third one")
	x.gone("How rooks nest ")
	x.keys("M-p")
	x.see("pinned “Third one”", "alt+p unpin")
	x.keys("C-u")
	x.see("Pinned")
	x.keys("F2", "C-u")
	x.typed("Number three")
	x.keys("Enter")
	x.see("renamed to “Number three”")
	x.keys("M-a")
	x.see("“Number three” is in the archive", "Conversations (2)", "archive (1)")
	x.keys("Tab")
	x.see("Archive (1)", "Number three")
	x.keys("M-a")
	x.see("Nothing is archived.")
	x.keys("Tab", "Tab", "C-x")
	x.see("“Number three” is in the bin; ctrl+z undoes it", "Conversations (2)")
	x.keys("C-z")
	x.see("“Number three” is back", "Conversations (3)")
	x.keys("C-x", "Tab", "Tab")
	x.see("Bin (1)", "Number three", "enter take back")
	x.keys("Enter")
	x.see("The bin is empty.", "is back")
	x.keys("Tab")
	x.typed("num")
	x.keys("C-x")
	x.see("is in the bin")
	x.keys("C-u", "Tab", "Tab")
	x.see("Bin (1)")
	x.keys("C-x")
	x.see("Delete the conversation?")
	x.keys("Enter")
	x.see("for good", "The bin is empty.")
	x.keys("Tab", "C-x", "C-x", "Tab", "Tab")
	x.see("Bin (2)")
	x.keys("M-x")
	x.see("Empty the bin?")
	x.keys("Enter")
	x.see("2 conversations are removed", "The bin is empty.")
	x.keys("Tab")
	x.see("Nothing is stored yet")
}

// TestDeletingTheOpenConversation also restarts the program between deleting and
// restoring: the bin is stored.
func TestDeletingTheOpenConversation(t *testing.T) {
	x := openConversationList(t, 80, 24)
	x.typed("rooks")
	x.keys("Enter")
	x.see("In colonies, high up in trees.")
	x.typed("/delete")
	x.keys("Enter")
	x.see("its tab is closed", "/undelete undoes it")
	x.gone("In colonies")
	x.typed("/undelete")
	x.keys("Enter")
	x.see("is back", "In colonies, high up in trees.")
	x.typed("/delete")
	x.keys("Enter")
	x.see("its tab is closed")
	x.keys("C-q")
	x.see("exit:0")
	x.start(program(t))
	x.see(composerHint)
	x.gone("In colonies")
	x.keys("C-o", "Tab", "Tab")
	x.see("Bin (1)", "How rooks nest")
	x.keys("Enter")
	x.see("is back", "The bin is empty.")
}

func TestBundlesFromTheChat(t *testing.T) {
	home := t.TempDir()
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "20")
	x.see(composerHint)
	x.typed("Hello, please tell me a story about a brave cat.")
	x.keys("Enter")
	x.see("1 A story about a brave c", "reached its longest length")
	x.keys("F5")
	x.see("version 2 of 2", "reached its longest length")
	x.typed("/export states " + home + "/cat.rookery")
	x.keys("Enter")
	x.see("exported to")
	x.typed("/import " + home + "/cat.rookery")
	x.keys("Enter")
	x.see("1 there already")
	x.keys("C-q")
	x.see("exit:0")

	other := t.TempDir()
	x.home = other
	x.start(program(t))
	x.see("rookery-demo, a demonstration", composerHint)
	x.typed("/import " + home + "/cat.rookery")
	x.keys("Enter")
	x.see("1 imported", "version 2 of 2", "brave cat.")
	x.keys("M-,")
	x.see("version 1 of 2")
}
