// engine.h: an rk_engine. It owns everything that rk_open makes.
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

    // The loader before ready, the steps after it; each throws at the wrong time.
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
