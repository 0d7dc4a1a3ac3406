// Package gauge reads load, memory, power and temperature of GPUs through the
// libraries of their makers: NVML of NVIDIA and ROCm SMI of AMD. The libraries are
// opened if they are found; the program does not need them.
package gauge
