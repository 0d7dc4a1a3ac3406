// Package gauge reads how busy, full, hot and thirsty the GPUs of a machine are,
// from the libraries that their makers bring for that: NVML of NVIDIA and ROCm
// SMI of AMD. They are opened where they are found and are not needed otherwise.
package gauge
