package e2e

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// A character card in a picture becomes a persona that the next start has too.
func TestPersonas(t *testing.T) {
	home := t.TempDir()
	chunk := func(kind, body string) string {
		out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
		out = append(out, kind+body...)
		return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:])))
	}
	card := `{"spec":"chara_card_v2","data":{"name":"Keeper","description":"{{char}} keeps rooks for {{user}}."}}`
	picture := "\x89PNG\r\n\x1a\n" + chunk("tEXt", "chara\x00"+base64.StdEncoding.EncodeToString([]byte(card))) + chunk("IEND", "")
	path := filepath.Join(home, "keeper.png")
	if err := os.WriteFile(path, []byte(picture), 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.typed("/persona import " + path)
	x.keys("Enter")
	x.see("imported “Keeper”")
	x.keys("C-q")
	x.see("exit:0")
	x.start(program(t), "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.keys("M-P")
	x.see("Personas", "Keeper", "Import a file")
	x.typed("keeper")
	x.keys("Enter")
	x.see("system prompt · ")
	x.gone("Personas")
	x.keys("M-s")
	x.see("Keeper keeps rooks for User.")
	x.keys("Escape")
	x.gone("What the model is told")
	x.say("Hello.", 1)
	x.keys("C-q")
	x.see("exit:0")
}
