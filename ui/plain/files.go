package plain

import (
	"errors"
	"fmt"
	"time"

	"rookery/chat/attach"
	"rookery/infer"
	"rookery/ui/kit"
	"rookery/ui/states"
)

// readFiles is a prompt with the text of the files that it names, and says what they
// cost.
func (c *console) readFiles(text string) (string, error) {
	p, err := attach.Read(c.ctx, text)
	if err != nil {
		return "", err
	}
	for _, s := range p.Sources {
		files := ""
		if s.Folder {
			files = fmt.Sprintf("%d files, ", len(s.Files))
		}
		c.say(fmt.Sprintf("%s: %s%s tokens.", kit.OneLine(s.Name), files, kit.FormatCount(len(c.model.Tokenizer.Encode(nil, s.Document())))))
	}
	for _, name := range p.Missing {
		c.say("@" + kit.OneLine(name) + ": there is no such file, so it is sent as it stands.")
	}
	return p.String(), nil
}

// fromFiles begins a new conversation from a state that has read files.
func (c *console) fromFiles(arg string) error {
	if arg == "" {
		return errors.New("write /file and the path of a file or folder")
	}
	p, err := states.ReadFiles(c.ctx, arg, false)
	if err != nil {
		return err
	}
	s, found, err := states.BakeFiles(c.ctx, c.workspace, p, c.sayProgress())
	if err != nil {
		return err
	}
	d, err := c.workspace.NewFrom(s)
	if err != nil {
		return err
	}
	c.use(d)
	read := "were read"
	if found {
		read = "need not be read again"
	}
	c.say(fmt.Sprintf("A new conversation that begins from %s: %s tokens %s.", kit.OneLine(s.Name), kit.FormatCount(s.Read), read))
	return nil
}

// sayProgress says from time to time how far a text has been read.
func (c *console) sayProgress() func(infer.Progress) {
	said := time.Now()
	return func(done infer.Progress) {
		if time.Since(said) >= progressEvery {
			said = time.Now()
			c.say(fmt.Sprintf("%s of %s tokens.", kit.FormatCount(done.Read), kit.FormatCount(done.ToRead)))
		}
	}
}
