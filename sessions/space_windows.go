package sessions

import "golang.org/x/sys/windows"

// FreeSpace is the bytes that may be written to a directory's disk; ok is
// false when the system does not say.
func FreeSpace(dir string) (bytes int64, ok bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(free), true
}
