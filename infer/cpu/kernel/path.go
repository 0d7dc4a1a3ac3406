package kernel

import "fmt"

// A Path is one implementation of the kernels. Its methods are safe for
// concurrent use as long as their arguments are not shared.
type Path uint8

// The paths, slowest first.
const (
	Go         Path = iota // plain Go, everywhere
	AVX2                   // AVX2, FMA and F16C
	AVX512                 // AVX-512 F, BW, DQ, VL
	AVX512VNNI             // and VNNI, for int8 weights
	paths
)

var pathNames = [paths]string{"go", "avx2", "avx512", "avx512vnni"}

// String is the name that ParsePath reads: "go", "avx2", "avx512" or
// "avx512vnni".
func (p Path) String() string {
	if p < paths {
		return pathNames[p]
	}
	return fmt.Sprintf("Path(%d)", uint8(p))
}

// ParsePath finds a path by name and refuses one that this processor cannot
// run.
func ParsePath(name string) (Path, error) {
	for i, n := range pathNames {
		if n != name {
			continue
		}
		if tables[i] == nil {
			return Go, fmt.Errorf("kernel path %q needs instructions that this processor does not have; available: %v", name, Available())
		}
		return Path(i), nil
	}
	return Go, fmt.Errorf("unknown kernel path %q; available: %v", name, Available())
}

// Available lists the paths this processor can run, slowest first.
func Available() []Path {
	var list []Path
	for i := range tables {
		if tables[i] != nil {
			list = append(list, Path(i))
		}
	}
	return list
}

// Best is the fastest path this processor can run.
func Best() Path {
	all := Available()
	return all[len(all)-1]
}
