//go:build linux && (amd64 || arm64) && !nogpu

package gauge

import "fmt"

// nvml is NVIDIA's management library, which comes with the driver. The
// functions are those of nvml.h; a nvmlReturn_t of 0 is success.
var nvml = library{names: []string{"libnvidia-ml.so.1"}, start: startNVML}

type nvmlMeter struct {
	init        func() int32
	deviceCount func(n *uint32) int32
	handle      func(index uint32, device *uintptr) int32
	name        func(device uintptr, name *byte, length uint32) int32
	utilization func(device uintptr, rates *nvmlRates) int32
	memory      func(device uintptr, memory *nvmlMemory) int32
	power       func(device uintptr, milliwatts *uint32) int32
	limit       func(device uintptr, milliwatts *uint32) int32
	temperature func(device uintptr, sensor int32, degrees *uint32) int32
	message     func(code int32) string
}

// nvmlRates is nvmlUtilization_t, in percent; the second is how busy the memory is.
type nvmlRates struct{ gpu, _ uint32 }

// nvmlMemory is nvmlMemory_t, in bytes; the second is what is free.
type nvmlMemory struct{ total, _, used uint64 }

func startNVML(lib uintptr) (meter, error) {
	m := new(nvmlMeter)
	err := bind(lib, map[string]any{
		"nvmlInit_v2": &m.init, "nvmlDeviceGetCount_v2": &m.deviceCount, "nvmlDeviceGetHandleByIndex_v2": &m.handle,
	}, map[string]any{
		"nvmlDeviceGetName": &m.name, "nvmlDeviceGetUtilizationRates": &m.utilization, "nvmlDeviceGetMemoryInfo": &m.memory,
		"nvmlDeviceGetPowerUsage": &m.power, "nvmlDeviceGetEnforcedPowerLimit": &m.limit,
		"nvmlDeviceGetTemperature": &m.temperature, "nvmlErrorString": &m.message,
	})
	if err != nil {
		return nil, err
	}
	return m, m.check(m.init(), "starting")
}

// check is the error of a code.
func (m *nvmlMeter) check(code int32, doing string) error {
	switch {
	case code == 0:
		return nil
	case m.message != nil:
		return fmt.Errorf("%s: %s", doing, m.message(code))
	}
	return fmt.Errorf("%s: error %d", doing, code)
}

func (m *nvmlMeter) count() (int, error) {
	var n uint32
	err := m.check(m.deviceCount(&n), "counting GPUs")
	return int(min(n, maxDevices)), err
}

// read reads the values one by one. Those that a GPU does not support stay zero.
func (m *nvmlMeter) read(index int) (Reading, error) {
	var r Reading
	var device uintptr
	if err := m.check(m.handle(uint32(index), &device), "finding it"); err != nil {
		return r, err
	}
	var name [96]byte
	if m.name != nil && m.name(device, &name[0], uint32(len(name))) == 0 {
		r.Name = text(name[:])
	}
	var rates nvmlRates
	if m.utilization != nil && m.utilization(device, &rates) == 0 {
		r.Load = share(rates.gpu)
	}
	var memory nvmlMemory
	if m.memory != nil && m.memory(device, &memory) == 0 {
		r.MemoryUsed, r.MemoryTotal = int64(memory.used), int64(memory.total)
	}
	watts := func(ask func(uintptr, *uint32) int32) float64 {
		var milliwatts uint32
		if ask == nil || ask(device, &milliwatts) != 0 {
			return 0
		}
		return float64(milliwatts) / 1000
	}
	r.Power, r.PowerLimit = watts(m.power), watts(m.limit)
	const die = 0 // NVML_TEMPERATURE_GPU
	var degrees uint32
	if m.temperature != nil && m.temperature(device, die, &degrees) == 0 {
		r.Temperature = int(degrees)
	}
	return r, nil
}
