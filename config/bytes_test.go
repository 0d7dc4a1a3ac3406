package config

import "testing"

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{"2 GB": 2e9, "1.5GB": 1.5e9, "500 mb": 5e8, "0": 0, " 7 kB ": 7000, "12 B": 12, "3TB": 3e12} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q is %d, %v", text, b, err)
		}
		back, err := b.MarshalText()
		var again Bytes
		if err != nil || again.UnmarshalText(back) != nil || again != b {
			t.Errorf("%d is written %q", b, back)
		}
	}
	for _, text := range []string{"", "GB", "-1 GB", "1e30", "NaN", "1 XB", "1 2 GB", "Inf GB"} {
		if err := new(Bytes).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
