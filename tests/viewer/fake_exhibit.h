// Exhibits that are made up: their bytes follow from the number of the frame, and tests make them
// grow, fail and count.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "supple/core/error.h"
#include "viewer/exhibit.h"

namespace supple::test {

/// What a test and the exhibit it has given away share.
struct FakeState {
  std::atomic<int> available = 10;
  std::atomic<bool> is_done = false;
  std::atomic<int> frames_read = 0;
  std::atomic<int> statics_read = 0;
  std::atomic<int> looks = 0;  ///< calls of availability()
  std::atomic<size_t> frame_bytes = 1000;
  std::atomic<size_t> static_bytes = 5000;
  std::atomic<int> slowness_ms = 0;  ///< of frame_chunk
  std::atomic<bool> is_damaged = false;
  std::atomic<bool> was_shared = false;  ///< two threads were seen
  std::mutex mutex;
  std::thread::id thread;

  /// Remembers the thread that asks; the constructor of the server may be another one.
  void note_thread() {
    const std::lock_guard lock(mutex);
    if (thread == std::thread::id()) thread = std::this_thread::get_id();
    if (thread != std::this_thread::get_id()) was_shared = true;
  }
};

/// The bytes of a made-up chunk: a different sequence for every seed.
inline Bytes made_up_bytes(size_t size, unsigned seed) {
  Bytes bytes(size);
  uint32_t x = seed * 2654435761u + 1;
  for (std::byte& byte : bytes) {
    x = x * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(x >> 24);
  }
  return bytes;
}

/// An exhibit whose frames are 1001, 1002 and so on. Frame 666 fails as no exhibit should.
class FakeExhibit : public viewer::Exhibit {
 public:
  explicit FakeExhibit(std::shared_ptr<FakeState> state) : m_state(std::move(state)) {}

  Json facts() const override {
    m_state->note_thread();
    if (m_state->is_damaged)
      return {{"title", "fake"},
              {"file", "fake.supple"},
              {"kind", "cache"},
              {"error", "fake.supple: is damaged"}};
    return {{"title", "fake"}, {"file", "fake.supple"}, {"kind", "cache"}, {"vertices", 3}};
  }

  viewer::Availability availability() const override {
    ++m_state->looks;
    return {m_state->available, m_state->is_done ? "done" : "running"};
  }

  Bytes static_chunk() const override {
    m_state->note_thread();
    if (m_state->is_damaged) throw_input_error("fake.supple", "static", "is damaged");
    Bytes chunk = made_up_bytes(m_state->static_bytes, 7);
    ++m_state->statics_read;
    return chunk;
  }

  Bytes frame_chunk(int frame) const override {
    m_state->note_thread();
    std::this_thread::sleep_for(std::chrono::milliseconds(m_state->slowness_ms));
    if (frame == 666) throw std::logic_error("not\nan Error");
    if (frame < 1001 || frame - 1001 >= m_state->available)
      throw_input_error("fake.supple", "frames", fmt::format("{} is not there", frame));
    Bytes chunk = made_up_bytes(m_state->frame_bytes, static_cast<unsigned>(frame));
    ++m_state->frames_read;
    return chunk;
  }

  Json report(int from_frame) const override {
    m_state->note_thread();
    if (from_frame == 13) throw 13;  // whatever it is, the server lives on
    Json frames = Json::array();
    for (int i = 1001; i < 1001 + m_state->available; ++i)
      if (i >= from_frame) frames.push_back(i);
    return {{"frames", frames}};
  }

 private:
  std::shared_ptr<FakeState> m_state;
};

}  // namespace supple::test
