// Logging to standard error through spdlog, kept behind four functions so that headers stay light.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace supple {

/// How much is logged; each level includes the ones before it.
enum class LogLevel { off, errors, warnings, info, debug };

/// Sets how much is logged from now on (default: info).
void set_log_level(LogLevel level);

/// Logs one line at the given level.
void log_message(LogLevel level, std::string_view message);

/// Logs an error, formatted as by fmt.
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::errors, fmt::format(format, std::forward<Args>(args)...));
}

/// Logs a warning, formatted as by fmt.
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::warnings, fmt::format(format, std::forward<Args>(args)...));
}

/// Logs progress worth a line, formatted as by fmt.
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}

/// Logs detail for those who ask for it, formatted as by fmt.
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::debug, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace supple
