package rwkv

// A Version is a generation of the architecture.
type Version uint8

// The versions, oldest first.
const (
	Unknown Version = iota
	V4
	V50
	V51
	V52
	V6
	V7
)

var versionNames = [...]string{
	Unknown: "an unknown architecture",
	V4:      "RWKV-4 (x040)",
	V50:     "RWKV-5.0 (x050)",
	V51:     "RWKV-5.1 (x051)",
	V52:     "RWKV-5.2 (x052)",
	V6:      "RWKV-6 (x060)",
	V7:      "RWKV-7 (x070)",
}

// String names the version as its authors do: "RWKV-7 (x070)".
func (v Version) String() string {
	if int(v) >= len(versionNames) {
		v = Unknown
	}
	return versionNames[v]
}
