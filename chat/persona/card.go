package persona

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// maxChunk bounds the text of a picture that a card is in, in bytes.
const maxChunk = 4 << 20

// cardText finds the card in a PNG picture: the text chunk "chara", in base64.
// https://www.w3.org/TR/png/#11tEXt
func cardText(png []byte) ([]byte, error) {
	rest := png[len(pngSignature):]
	for len(rest) >= 12 {
		length := binary.BigEndian.Uint32(rest)
		if uint64(length)+12 > uint64(len(rest)) {
			return nil, errors.New("the picture is cut off or damaged")
		}
		kind, body := string(rest[4:8]), rest[8:8+length]
		sum := binary.BigEndian.Uint32(rest[8+length:])
		if text, ok := bytes.CutPrefix(body, []byte("chara\x00")); ok && kind == "tEXt" {
			if crc32.ChecksumIEEE(rest[4:8+length]) != sum {
				return nil, errors.New("the card in the picture is damaged")
			}
			if len(text) > maxChunk {
				return nil, fmt.Errorf("the card in the picture has more than %d MiB", maxChunk>>20)
			}
			out, err := base64.StdEncoding.DecodeString(string(text))
			if err != nil {
				return nil, fmt.Errorf("the card in the picture is not in base64: %w", err)
			}
			return out, nil
		}
		if kind == "IEND" {
			break
		}
		rest = rest[12+length:]
	}
	return nil, errors.New("the picture has no character card in it")
}

// A card is a character card of version 2, as far as it says who someone is.
// https://github.com/malfoyslastname/character-card-spec-v2
type card struct {
	Spec string `json:"spec"`
	Data struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Personality string `json:"personality"`
		Scenario    string `json:"scenario"`
		FirstMes    string `json:"first_mes"`
		MesExample  string `json:"mes_example"`
		System      string `json:"system_prompt"`
		Notes       string `json:"creator_notes"`
	} `json:"data"`
}

const cardVersion2 = "chara_card_v2"

// parseCard reads a card.
func parseCard(data []byte) (Persona, error) {
	var c card
	if err := json.Unmarshal(data, &c); err != nil {
		return Persona{}, fmt.Errorf("this is no character card: %w", err)
	}
	if c.Spec != cardVersion2 {
		return Persona{}, fmt.Errorf("this is no character card of version 2, but %q", c.Spec[:min(len(c.Spec), 40)])
	}
	d := c.Data
	var parts []string
	for _, part := range []struct{ title, text string }{
		{"", strings.ReplaceAll(d.System, "{{original}}", "")},
		{"", d.Description},
		{"{{char}}'s personality: ", d.Personality},
		{"Scenario: ", d.Scenario},
		{"Examples of how {{char}} talks:\n", strings.ReplaceAll(d.MesExample, "<START>", "")},
		{"{{char}} has begun with: ", d.FirstMes},
	} {
		if text := strings.TrimSpace(part.text); text != "" {
			parts = append(parts, part.title+text)
		}
	}
	if len(parts) == 0 {
		return Persona{}, errors.New("the character card says nothing")
	}
	system := strings.NewReplacer("{{Char}}", "{{char}}", "<BOT>", "{{char}}", "{{User}}", "{{user}}", "<USER>", "{{user}}").Replace(strings.Join(parts, "\n"))
	p := Persona{Name: d.Name, About: d.Notes, System: system, Variables: map[string]string{"user": "User"}}
	return p, p.tidy()
}

// read reads a persona or a card.
func read(data []byte) (Persona, error) {
	if bytes.HasPrefix(data, []byte(pngSignature)) {
		text, err := cardText(data)
		if err != nil {
			return Persona{}, err
		}
		return parseCard(text)
	}
	var kind struct {
		Spec *string `json:"spec"`
	}
	if err := json.Unmarshal(data, &kind); err == nil && kind.Spec != nil {
		return parseCard(data)
	}
	return Parse(data)
}
