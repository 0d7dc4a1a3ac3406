package kernel

// The assembly is committed; running the generator needs avo, which is in the
// gen folder's own go.mod.
//
//go:generate go -C gen run . -family float -out ../float_amd64.s -stubs ../float_amd64.go -pkg kernel
//go:generate go -C gen run . -family q8 -out ../q8_amd64.s -stubs ../q8_amd64.go -pkg kernel
//go:generate go -C gen run . -family vector -out ../vector_amd64.s -stubs ../vector_amd64.go -pkg kernel
//go:generate go -C gen run . -family recurrence -out ../recurrence_amd64.s -stubs ../recurrence_amd64.go -pkg kernel
//go:generate go -C gen run . -family memory -out ../memory_amd64.s -stubs ../memory_amd64.go -pkg kernel
//go:generate go -C gen run . -family skip -out ../skip_amd64.s -stubs ../skip_amd64.go -pkg kernel
