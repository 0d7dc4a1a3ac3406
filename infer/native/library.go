package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// FileName is what the library is called.
const FileName = "librookery_cuda.so"

// buildDir is where make -C cuda puts it.
const buildDir = "cuda/build"

// EnvPath is the environment variable that says where the library is: the file
// or its directory.
const EnvPath = "ROOKERY_LIB"

// A Library is an open library of kernels.
type Library struct {
	path string
	api  *api
}

// Open finds and opens the library: where ROOKERY_LIB says, or else beside the
// program or, where that was built, in the build directory of the sources.
// Nowhere else: a library is code, and must not be taken from wherever the
// program is run.
func Open() (*Library, error) {
	if !Supported {
		return nil, fmt.Errorf("%w: this is a build without support for GPUs", ErrAbsent)
	}
	path, err := locate()
	if err != nil {
		return nil, err
	}
	a, err := bind(path)
	if err != nil {
		return nil, fmt.Errorf("GPU library %s: %w", path, err)
	}
	return &Library{path: path, api: a}, nil
}

// Path is the library's file.
func (l *Library) Path() string { return l.path }

// ABI is the version of its interface.
func (l *Library) ABI() int { return int(l.api.version()) }

// locate finds the library's file.
func locate() (string, error) {
	if path := os.Getenv(EnvPath); path != "" {
		return named(path)
	}
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w: the program does not know where it is: %w; set %s", ErrAbsent, err, EnvPath)
	}
	if file, err := filepath.EvalSymlinks(program); err == nil {
		program = file
	}
	dir := filepath.Dir(program)
	for _, d := range []string{dir, filepath.Join(dir, buildDir), filepath.Join(dir, "..", buildDir)} {
		path := filepath.Join(d, FileName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s is not in %s; build it with make cuda, or say where it is in %s", ErrAbsent, FileName, dir, EnvPath)
}

// named is the file that ROOKERY_LIB means. One that is not there is an error:
// somebody wanted it.
func named(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path = filepath.Join(path, FileName)
		_, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("GPU library %s, which %s names, is not there", path, EnvPath)
	case err != nil:
		return "", fmt.Errorf("GPU library: %w", err)
	}
	return filepath.Abs(path) // a bare name would be looked for in the system's places
}

// A Device is a GPU.
type Device struct {
	Index           int
	Name            string
	TotalMemory     int64 // bytes
	FreeMemory      int64 // bytes, when it was asked
	Cache           int64 // bytes of L2
	Multiprocessors int
	Major, Minor    int // compute capability
	Driver          int // version of the interface that the driver supports: 13000 is CUDA 13.0
}

// DriverVersion is the version as people write it.
func (d Device) DriverVersion() string { return fmt.Sprintf("%d.%d", d.Driver/1000, d.Driver%1000/10) }

// maxDevices bounds what a library can claim to see.
const maxDevices = 256

// Devices are the GPUs that can be used, in the driver's order, which
// CUDA_VISIBLE_DEVICES changes. Without a driver, with one that is too old, and
// where there is none, it is an error that says so. Asking about a GPU takes
// some of its memory for as long as the program runs.
func (l *Library) Devices() ([]Device, error) {
	n, err := l.count()
	if err != nil {
		return nil, err
	}
	devices := make([]Device, n)
	for i := range devices {
		if devices[i], err = l.device(i); err != nil {
			return nil, err
		}
	}
	return devices, nil
}

// count is the number of devices, 1 or more.
func (l *Library) count() (int, error) {
	var n int32
	if err := l.api.check(l.api.deviceCount(&n), "GPU library "+l.path); err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf("GPU library %s: the driver shows no usable GPU", l.path)
	}
	return int(min(n, maxDevices)), nil
}

func (l *Library) device(index int) (Device, error) {
	var info device
	if err := l.api.check(l.api.deviceInfo(int32(index), &info), fmt.Sprintf("GPU %d", index)); err != nil {
		return Device{}, err
	}
	name, _, _ := strings.Cut(string(info.name[:]), "\x00")
	return Device{
		Index: index, Name: name,
		TotalMemory: info.memoryTotal, FreeMemory: info.memoryFree, Cache: info.l2Bytes,
		Multiprocessors: int(info.multiprocessors), Major: int(info.major), Minor: int(info.minor), Driver: int(info.driver),
	}, nil
}

// first is the device that is used.
func (l *Library) first() (Device, error) {
	if _, err := l.count(); err != nil {
		return Device{}, err
	}
	return l.device(0)
}
