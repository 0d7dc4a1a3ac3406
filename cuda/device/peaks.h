// peaks.h: what the selected device reaches.
#pragma once

#include "rookery.h"

rk_peaks measure_peaks();
