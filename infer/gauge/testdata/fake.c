/* Libraries with the functions of nvml.h and of rocm_smi.h that the program
 * asks for, and without a GPU, for tests. ROCM makes that of AMD; BARE leaves
 * out what a GPU need not tell; BROKEN does not start; DEVICES is how many there
 * are. */
#include <stdint.h>
#include <string.h>

#ifndef DEVICES
#define DEVICES 2
#endif

#ifdef BROKEN
#define START 9
#else
#define START 0
#endif

#ifndef ROCM

typedef struct device { unsigned index; } device;
typedef struct { unsigned gpu, memory; } rates;
typedef struct { unsigned long long total, free, used; } memory;

static device devices[2] = {{0}, {1}};

int nvmlInit_v2(void) { return START; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = DEVICES; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, device **d)
{
    if (i >= 2) return 2;
    *d = &devices[i];
    return 0;
}
const char *nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Invalid Argument"; }

#ifndef BARE
int nvmlDeviceGetName(device *d, char *name, unsigned n)
{
    strncpy(name, d->index ? "Fake H100" : "Fake A100", n);
    return 0;
}
int nvmlDeviceGetUtilizationRates(device *d, rates *r) { r->gpu = 40 + d->index; r->memory = 7; return 0; }
int nvmlDeviceGetMemoryInfo(device *d, memory *m) { m->total = 80ull << 30; m->used = (3ull + d->index) << 30; m->free = 1; return 0; }
int nvmlDeviceGetPowerUsage(device *d, unsigned *mw) { *mw = 250500; return d->index ? 3 /* not supported */ : 0; }
int nvmlDeviceGetEnforcedPowerLimit(device *d, unsigned *mw) { (void)d; *mw = 700000; return 0; }
int nvmlDeviceGetTemperature(device *d, int sensor, unsigned *t) { *t = 51 + d->index; return sensor; }
#endif

#else

int rsmi_init(uint64_t flags) { return flags ? 1 : START; }
int rsmi_num_monitor_devices(uint32_t *n) { *n = DEVICES; return 0; }

#ifndef BARE
int rsmi_dev_name_get(uint32_t d, char *name, size_t n) { (void)d; strncpy(name, "Fake MI300X", n); return 0; }
int rsmi_dev_busy_percent_get(uint32_t d, uint32_t *p) { *p = 90 + d; return 0; }
int rsmi_dev_memory_total_get(uint32_t d, int kind, uint64_t *b) { (void)d; *b = 192ull << 30; return kind; }
int rsmi_dev_memory_usage_get(uint32_t d, int kind, uint64_t *b) { *b = (10ull + d) << 30; return kind; }
int rsmi_dev_power_ave_get(uint32_t d, uint32_t sensor, uint64_t *uw) { (void)d; (void)sensor; (void)uw; return 2; }
int rsmi_dev_current_socket_power_get(uint32_t d, uint64_t *uw) { (void)d; *uw = 500250000; return 0; }
int rsmi_dev_power_cap_get(uint32_t d, uint32_t sensor, uint64_t *uw) { (void)d; *uw = 750000000; return sensor; }
int rsmi_dev_temp_metric_get(uint32_t d, uint32_t sensor, int metric, int64_t *t) { (void)d; *t = 65499; return metric || sensor != 1; }
#endif

#endif
