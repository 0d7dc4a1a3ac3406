package load

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"rookery/infer/checkpoint"
	"rookery/infer/cpu"
	"rookery/infer/rwkv"
)

// checkMemory refuses a model that does not fit into the available bytes, before it is
// loaded. 0 is not known.
func checkMemory(f *checkpoint.File, shape rwkv.Shape, need cpu.Estimate, available int64) error {
	if available == 0 || need.Bytes <= available {
		return nil
	}
	wayOut := "use a smaller model or close other programs"
	if small, err := cpu.EstimateLoad(f, shape, "int8"); err == nil && small.Bytes <= available {
		wayOut = fmt.Sprintf("as int8 it needs %s", gigabytes(small.Bytes))
	}
	return fmt.Errorf("%s: as %s it needs %s of memory and %s are free; %s",
		f.Path(), need.Weights, gigabytes(need.Bytes), gigabytes(available), wayOut)
}

// widening says what it costs to load a file of packed weights that are not run as
// they are; it is empty for others.
func widening(f *checkpoint.File, need cpu.Estimate) string {
	types := f.PackedTypes()
	if len(types) == 0 || need.Weights == "int8" {
		return ""
	}
	return fmt.Sprintf("%s: its %s weights are widened to %s and take %s of memory instead of %s",
		f.Path(), strings.Join(types, " and "), need.Weights, gigabytes(need.Bytes), gigabytes(f.Size()))
}

// gigabytes writes a size for people.
func gigabytes(n int64) string {
	if n < 1e8 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// AvailableMemory is how many bytes of memory the system still has for programs, or 0
// if it does not say.
func AvailableMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	n := memAvailable(f)
	if err := f.Close(); err != nil {
		return 0
	}
	return n
}

// memAvailable reads Linux's estimate from the text of /proc/meminfo.
func memAvailable(r io.Reader) int64 {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:")
		if !ok {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		if err != nil || kb < 0 || kb > 1<<50 {
			return 0
		}
		return kb << 10
	}
	return 0
}
