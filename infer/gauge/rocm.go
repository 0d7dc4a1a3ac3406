//go:build linux && (amd64 || arm64) && !nogpu

package gauge

import "fmt"

// rocm is AMD's system management interface. The functions are those of
// rocm_smi.h; a rsmi_status_t of 0 is success.
var rocm = library{names: []string{"librocm_smi64.so.1", "librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so"}, start: startROCm}

type rocmMeter struct {
	init        func(flags uint64) int32
	deviceCount func(n *uint32) int32
	name        func(device uint32, name *byte, length uint64) int32
	busy        func(device uint32, percent *uint32) int32
	memoryTotal func(device uint32, kind int32, bytes *uint64) int32
	memoryUsed  func(device uint32, kind int32, bytes *uint64) int32
	power       func(device, sensor uint32, microwatts *uint64) int32
	socketPower func(device uint32, microwatts *uint64) int32
	limit       func(device, sensor uint32, microwatts *uint64) int32
	temperature func(device, sensor uint32, metric int32, millidegrees *int64) int32
}

func startROCm(lib uintptr) (meter, error) {
	m := new(rocmMeter)
	err := bind(lib, map[string]any{
		"rsmi_init": &m.init, "rsmi_num_monitor_devices": &m.deviceCount,
	}, map[string]any{
		"rsmi_dev_name_get": &m.name, "rsmi_dev_busy_percent_get": &m.busy,
		"rsmi_dev_memory_total_get": &m.memoryTotal, "rsmi_dev_memory_usage_get": &m.memoryUsed,
		"rsmi_dev_power_ave_get": &m.power, "rsmi_dev_current_socket_power_get": &m.socketPower,
		"rsmi_dev_power_cap_get": &m.limit, "rsmi_dev_temp_metric_get": &m.temperature,
	})
	if err != nil {
		return nil, err
	}
	return m, rocmError(m.init(0), "starting")
}

func rocmError(code int32, doing string) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: error %d", doing, code)
}

func (m *rocmMeter) count() (int, error) {
	var n uint32
	err := rocmError(m.deviceCount(&n), "counting GPUs")
	return int(min(n, maxDevices)), err
}

// read reads the values one by one. Those that a GPU does not support stay zero.
func (m *rocmMeter) read(index int) (Reading, error) {
	var r Reading
	device := uint32(index)
	var name [128]byte
	if m.name != nil && m.name(device, &name[0], uint64(len(name))) == 0 {
		r.Name = text(name[:])
	}
	var percent uint32
	if m.busy != nil && m.busy(device, &percent) == 0 {
		r.Load = share(percent)
	}
	const vram = 0 // RSMI_MEM_TYPE_VRAM
	var bytes uint64
	if m.memoryTotal != nil && m.memoryTotal(device, vram, &bytes) == 0 {
		r.MemoryTotal = int64(bytes)
	}
	if m.memoryUsed != nil && m.memoryUsed(device, vram, &bytes) == 0 {
		r.MemoryUsed = int64(bytes)
	}
	r.Power, r.PowerLimit = m.watts(device)
	const edge, junction, current = 0, 1, 0 // RSMI_TEMP_TYPE_*, RSMI_TEMP_CURRENT
	var millidegrees int64
	if m.temperature != nil && (m.temperature(device, edge, current, &millidegrees) == 0 || m.temperature(device, junction, current, &millidegrees) == 0) {
		r.Temperature = int(millidegrees / 1000)
	}
	return r, nil
}

// watts are the power that the device draws (newer ones report the socket's) and its
// limit.
func (m *rocmMeter) watts(device uint32) (power, limit float64) {
	var microwatts uint64
	if m.power != nil && m.power(device, 0, &microwatts) == 0 || m.socketPower != nil && m.socketPower(device, &microwatts) == 0 {
		power = float64(microwatts) / 1e6
	}
	if m.limit != nil && m.limit(device, 0, &microwatts) == 0 {
		limit = float64(microwatts) / 1e6
	}
	return power, limit
}
