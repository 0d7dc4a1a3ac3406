// engine.h: everything behind an rk_engine.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "engine/loader.h"
#include "engine/step.h"

struct rk_engine {
  public:
    rk_engine(const rk_shape &shape, const rk_options &options);
    rk_engine(const rk_engine &) = delete;
    rk_engine &operator=(const rk_engine &) = delete;

    // Both throw in the wrong part of an engine's life.
    Loader &loading();
    Steps &stepping();

    void ready();
    void tune(double seconds);

    const int device;
    std::atomic<bool> lost{false}; // the device failed
    rk_memory memory = {};

  private:
    const std::string device_name_, tuning_;
    Arena arena_;
    Model model_;
    std::unique_ptr<Loader> loader_; // until ready

  public:
    Slots slots;

  private:
    Steps steps_;
};
