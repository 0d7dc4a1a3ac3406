// Command gen writes the assembly of package kernel, one family a file. It is
// a module of its own so that the program does not depend on avo. Run it by
// "go generate" in the kernel folder; the results are committed.
package main

import (
	"flag"
	"log"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

var families = map[string]func(){
	"float":      floatTiles,
	"q8":         q8Tiles,
	"vector":     vectors,
	"recurrence": recurrence,
	"memory":     memory,
	"skip":       skipTiles,
}

func main() {
	family := flag.String("family", "", "which kernels to write")
	flag.Parse()
	build, ok := families[*family]
	if !ok {
		var names []string
		for n := range families {
			names = append(names, n)
		}
		slices.Sort(names)
		log.Fatalf("gen: unknown family %q; there are %s", *family, strings.Join(names, ", "))
	}
	build()
	Generate()
}
