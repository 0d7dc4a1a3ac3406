package checkpoint

import "bytes"

// A format is a kind of file that can be read.
type format struct {
	// recognises says whether a file that begins with head (up to 512 bytes) is of
	// the format.
	recognises func(head []byte) bool
	// open reads where every tensor stands and checks all of it against the file's
	// length. It reads no values and executes nothing.
	open func(m *image) (*File, error)
}

// formats are tried in this order.
var formats = []format{
	{isZip, openPth},
	{looksLikeSafetensors, openSafetensors},
	{isGGUF, openGGUF},
	{isRWKVCpp, openRWKVCpp},
}

// The results of File.Format.
const (
	formatPth         = "pth"
	formatSafetensors = "safetensors"
	formatGGUF        = "gguf"
	formatRWKVCpp     = "rwkv.cpp"
)

// isZip recognises the archives that torch writes since version 1.6.
func isZip(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// refuseForeign refuses a file of another kind and names the kind.
func refuseForeign(head []byte) error {
	starts := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	page := bytes.ToLower(bytes.TrimSpace(head))
	switch {
	case len(head) == 0:
		return refuse(downloadAgain, "the file is empty")
	case starts("lmgg"), starts("tjgg"):
		return refuse(useRelease, "this is a ggml file from before GGUF, which is not read")
	case starts("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."), starts("\x80\x02"), starts("\x80\x04"):
		return refuse("load it with torch and save it again", "this is a pickle from before torch 1.6, which is not read")
	case starts("PK"):
		return refuse(downloadAgain, "this is an empty or split zip file")
	case starts("version https://git-lfs"):
		return refuse("fetch the file itself with git lfs pull", "this is a Git LFS pointer, not the file")
	case bytes.HasPrefix(page, []byte("<!doctype")), bytes.HasPrefix(page, []byte("<html")):
		return refuse("download the file itself", "this is a web page, not weights")
	}
	return refuse("name a .pth, .safetensors, .gguf or .bin file", "this is neither a torch, a safetensors, a GGUF nor an rwkv.cpp file")
}
