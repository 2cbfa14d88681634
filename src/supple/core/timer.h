// Wall-clock timing of the stages of a frame.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace supple {

/// Wall-clock time since construction or the last restart, in seconds.
class Stopwatch {
 public:
  /// Seconds since construction or the last restart.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

  /// Starts counting again from zero.
  void restart() { m_start = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// Seconds spent in each named stage, in the order the stages first ran.
class StageTimes {
 public:
  /// Adds the time from its making to its end to a stage.
  struct Recorder {
    Recorder(StageTimes& to, std::string_view stage) : times(to), name(stage) {}
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    ~Recorder() { times.add(name, watch.seconds()); }

    StageTimes& times;
    std::string_view name;
    Stopwatch watch;
  };

  /// Adds the time until the result goes out of scope to `name`, which must outlive it.
  [[nodiscard]] Recorder measure(std::string_view name) { return {*this, name}; }

  /// Runs `stage` and adds the time it took to `name`.
  template <class Stage>
  decltype(auto) time(std::string_view name, Stage&& stage) {
    const Recorder recorder(*this, name);
    return std::forward<Stage>(stage)();
  }

  /// Adds all stages of another, with `before` put before their names.
  void add(const StageTimes& other, std::string_view before = {}) {
    for (const auto& [name, seconds] : other.m_stages) add(std::string(before) + name, seconds);
  }

  /// Adds `seconds` to the stage `name`.
  void add(std::string_view name, double seconds) {
    for (auto& [known, total] : m_stages)
      if (known == name) {
        total += seconds;
        return;
      }
    m_stages.emplace_back(name, seconds);
  }

  /// Name and seconds of every stage so far.
  const std::vector<std::pair<std::string, double>>& stages() const { return m_stages; }

 private:
  std::vector<std::pair<std::string, double>> m_stages;
};

}  // namespace supple
