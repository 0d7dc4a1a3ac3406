// handles.h: streams and events that free themselves.
#pragma once

#include "device/failure.h"

class Stream {
  public:
    Stream() { check(gpuStreamCreate(&stream_), "making a stream"); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() { gpuStreamDestroy(stream_); }
    operator gpuStream() const { return stream_; }
    void wait() const { check(gpuStreamSynchronize(stream_), "waiting for the device"); }
    void wait_for(gpuEvent e) const { check(gpuStreamWaitEvent(stream_, e), "ordering work on the device"); }

  private:
    gpuStream stream_ = nullptr;
};

// An event; timed ones can tell the time between two of them.
class Event {
  public:
    explicit Event(bool timed = false) { check(timed ? gpuEventCreate(&event_) : gpuEventCreateUntimed(&event_), "making an event"); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    ~Event() { gpuEventDestroy(event_); }
    operator gpuEvent() const { return event_; }
    void record(gpuStream s) const { check(gpuEventRecord(event_, s), "ordering work on the device"); }
    void wait() const { check(gpuEventSynchronize(event_), "waiting for the device"); }

  private:
    gpuEvent event_ = nullptr;
};
