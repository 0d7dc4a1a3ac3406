package panel_test

import (
	"context"
	"testing"

	"rookery/ui"
	"rookery/ui/uitest"
)

func TestModels(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		opened := ""
		p := open(t, 80, 24, func(_ *uitest.Options, o *ui.Options) {
			o.Reopen = func(path string) { opened = path }
			o.Models = func(context.Context) ([]ui.ModelFile, error) {
				return []ui.ModelFile{
					{Name: "small", About: "RWKV-7 · 3.2 M", Current: true},
					{Path: "/models/cut.pth", Name: "cut", Problem: "it ends too early"},
					{Path: "/models/large.pth", Name: "large", About: "RWKV-7 · 1527.4 M"},
				}, nil
			}
		})
		p.Enter("/models")
		p.Sees("Models, on ", "* small", "cannot be run: it ends too early")
		p.Press("down", "enter")
		p.Sees("/models/cut.pth: it ends too early")
		p.Press("esc", "alt+shift+m", "enter")
		p.Sees("small runs already")
		p.Enter("/models huge")
		p.Sees(`there is no model "huge" and no such file`)
		p.Press("esc", "ctrl+u")
		p.Enter("/models cut")
		p.Sees("/models/cut.pth: it ends too early")
		p.Press("esc", "ctrl+u")
		if opened != "" {
			t.Errorf("opened %q", opened)
		}
		p.Enter("/models large")
		if opened != "/models/large.pth" || p.Screen() != "" {
			t.Errorf("opened %q, and the program goes on:\n%s", opened, p.Screen())
		}
	})
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 80, 24, nil)
		p.Enter("/models")
		p.Sees("the model cannot be changed here")
	})
}
