// Byte buffers and bounds-checked access to them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace supple {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

/// The bytes of a text.
inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// Bytes seen as text.
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `value` with its bytes in the opposite order.
template <class T>
requires std::is_trivially_copyable_v<T> T byte_swapped(T value) {
  auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
  return std::bit_cast<T>(raw);
}

/// Appends the bytes of `value` (little-endian, as every machine we run on) to `out`.
template <class T>
requires std::is_trivially_copyable_v<T>
void append(Bytes& out, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof(T));
}

/// Appends the bytes of `value` in big-endian order to `out`.
template <class T>
void append_big_endian(Bytes& out, T value) {
  append(out, byte_swapped(value));
}

/// Appends a text's bytes to `out`.
inline void append_text(Bytes& out, std::string_view text) {
  const ByteView view = as_bytes(text);
  out.insert(out.end(), view.begin(), view.end());
}

/// The trivially copyable value stored at `offset`; the caller has checked the bounds.
template <class T>
requires std::is_trivially_copyable_v<T> T load_at(ByteView bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace supple
