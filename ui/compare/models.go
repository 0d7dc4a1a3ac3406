package compare

import (
	"fmt"
	"slices"
	"strings"

	"rookery/ui/kit"
)

// noOtherModels says why there is nothing to choose a model from.
const noOtherModels = "There is no other model: put files into the folder of models, see /models."

// OtherModels are those that drafts need besides the conversations' own.
func OtherModels(drafts []Draft) []kit.ModelFile {
	var list []kit.ModelFile
	for _, d := range drafts {
		if d.ofOtherModel() && !slices.ContainsFunc(list, func(f kit.ModelFile) bool { return f.Path == d.File.Path }) {
			list = append(list, d.File)
		}
	}
	return list
}

// FitModels says what models take together, or why they do not fit into memory.
func FitModels(files []kit.ModelFile) (string, error) {
	var needs, free int64
	var names []string
	for _, f := range files {
		name := kit.OneLine(f.Name)
		if f.Needs > 0 {
			name += " " + kit.FormatSize(f.Needs)
		}
		names, needs = append(names, name), needs+f.Needs
		if f.Free > 0 {
			free = f.Free
		}
	}
	said := strings.Join(names, ", ")
	if free == 0 {
		return said + ".", nil
	}
	if needs > free {
		return "", fmt.Errorf("%s: that does not fit into the %s of memory that are free; choose fewer models, or smaller ones", said, kit.FormatSize(free))
	}
	return fmt.Sprintf("%s. %s of memory are free.", said, kit.FormatSize(free)), nil
}
