package chat

import (
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer/statefile"
)

// SetAdapter makes a loaded adapter, or with the zero Adapter none, the
// conversation's. It counts from the next token on, also of a running answer;
// what has been read stays as it was read.
func (d *Dialogue) SetAdapter(a turn.Adapter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	if b := (statefile.State{Name: d.base.Name, Adapter: d.base.Adapter, AdapterName: d.base.AdapterName}); len(d.tree.nodes) == 0 {
		if err := b.CheckAdapter(a.Fingerprint, a.Title()); err != nil {
			return err
		}
	}
	d.conv.Adapter, d.adapter = a.Fingerprint, a.Title()
	for _, run := range d.following() {
		run.turn.Adapter, run.turn.AdapterID = a.Title(), a.Fingerprint
		run.settings.adapter, run.settings.adapterName = a.Fingerprint, a.Title()
		if run.stream != nil {
			run.stream.SetAdapter(a.Fingerprint)
		}
	}
	d.saveHead()
	d.publish()
	return nil
}

// Adapters is the adapters that conversations can use.
func (k *Workspace) Adapters() *library.AdapterRegistry { return k.adapters }

// UseAdapters says how adapters are read, and which come with the program. It
// is called before anything is opened.
func (k *Workspace) UseAdapters(open library.AdapterOpener, builtIn []string) {
	k.adapters.Use(open, builtIn)
}
