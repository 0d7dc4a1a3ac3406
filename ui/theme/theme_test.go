package theme

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"reflect"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// styles are all lipgloss styles of a theme by field name.
func styles(t Theme) map[string]lipgloss.Style {
	all := map[string]lipgloss.Style{}
	for prefix, v := range map[string]reflect.Value{"": reflect.ValueOf(t), "Syntax.": reflect.ValueOf(t.Syntax)} {
		for i := range v.NumField() {
			if s, ok := v.Field(i).Interface().(lipgloss.Style); ok {
				all[prefix+v.Type().Field(i).Name] = s
			}
		}
	}
	return all
}

func each(t *testing.T, f func(t *testing.T, th Theme)) {
	t.Helper()
	for _, name := range Names() {
		for _, dark := range []bool{true, false} {
			th, err := New(name, dark)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("%s dark=%v", name, dark), func(t *testing.T) { f(t, th) })
		}
	}
}

func TestNew(t *testing.T) {
	each(t, func(t *testing.T, th Theme) {
		for name, s := range styles(th) {
			if got := ansi.Strip(s.Render("x")); got != "x" {
				t.Errorf("%s adds to the text: %q", name, got)
			}
		}
	})
	if th, err := New("", true); err != nil || th.Name != Default {
		t.Errorf("no name: %q, %v; want the default", th.Name, err)
	}
	_, err := New("neon", true)
	if err == nil || !strings.Contains(err.Error(), `"neon"`) || !strings.Contains(err.Error(), Default) {
		t.Errorf("unknown name: %v; want an error with the name and the choices", err)
	}
}

// Backgrounds belong to the terminal, except where something is selected.
func TestNoBackground(t *testing.T) {
	each(t, func(t *testing.T, th Theme) {
		for name, s := range styles(th) {
			if name == "Selected" || name == "Chosen" {
				continue
			}
			if _, none := s.GetBackground().(lipgloss.NoColor); !none {
				t.Errorf("%s sets a background", name)
			}
		}
	})
}

func TestDefaultUsesSixteenColours(t *testing.T) {
	for _, dark := range []bool{true, false} {
		for name, s := range styles(ansiTheme(dark)) {
			switch c := s.GetForeground().(type) {
			case lipgloss.NoColor:
			case ansi.BasicColor:
				if c < lipgloss.Red || c > lipgloss.Cyan {
					t.Errorf("%s uses colour %d, which some schemes make invisible", name, c)
				}
			default:
				t.Errorf("%s uses %v, not one of the 16 colours", name, c)
			}
		}
	}
}

// With NO_COLOR the colour profile drops colours; attributes must survive, so
// that selection, titles and the active tab can still be told from the rest.
func TestNoColorKeepsAttributes(t *testing.T) {
	each(t, func(t *testing.T, th Theme) {
		for name, s := range map[string]lipgloss.Style{
			"Title": th.Title, "User": th.User, "Heading": th.Heading, "TabActive": th.TabActive,
			"Error": th.Error, "Selected": th.Selected, "SearchCurrent": th.SearchCurrent, "Link": th.Link,
		} {
			var out bytes.Buffer
			w := &colorprofile.Writer{Forward: &out, Profile: colorprofile.Ascii}
			if _, err := w.WriteString(s.Render("x")); err != nil {
				t.Fatal(err)
			}
			got := out.String()
			if strings.Contains(got, "38;") || strings.Contains(got, "48;") || strings.Contains(got, "[3") {
				t.Errorf("%s keeps a colour: %q", name, got)
			}
			if !strings.HasPrefix(got, "\x1b[") {
				t.Errorf("%s has no attribute left: %q", name, got)
			}
		}
	})
}

func TestContrast(t *testing.T) {
	for _, p := range palettes {
		for dark, c := range map[bool]tones{true: p.dark, false: p.light} {
			ground := color.Color(color.White)
			if dark {
				ground = color.Black
			}
			for i, hex := range []string{c.grey, c.red, c.green, c.yellow, c.blue, c.violet, c.cyan, c.orange} {
				want := 4.5
				if i == 0 {
					want = 3
				}
				if got := contrast(lipgloss.Color(hex), ground); got < want {
					t.Errorf("%s, dark %v: %s has a contrast of %.1f, want %.1f", p.name, dark, hex, got, want)
				}
			}
		}
	}
}

// contrast is the ratio of WCAG 2.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func TestGlyphsAreOneCell(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": UnicodeGlyphs(), "ascii": ASCIIGlyphs(), "spoken": SpokenGlyphs()} {
		v := reflect.ValueOf(g)
		for i := range v.NumField() {
			if s, ok := v.Field(i).Interface().(string); ok && ansi.StringWidth(s) > 1 {
				t.Errorf("%s: %s is %d cells wide", name, v.Type().Field(i).Name, ansi.StringWidth(s))
			}
		}
		for _, b := range g.Bullets {
			if ansi.StringWidth(b) != 1 {
				t.Errorf("%s: bullet %q is not one cell wide", name, b)
			}
		}
	}
}
