// peaks.h: the rates that the selected device reaches (rk_device_peaks).
#pragma once

#include "rookery.h"

rk_peaks measure_peaks();
