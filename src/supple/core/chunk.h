// A chunk: named, typed arrays in one checksummed block of bytes. Cache frames, the cache's static
// part and checkpoints are all chunks. The layout is in docs/cache.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "supple/core/bytes.h"

namespace supple {

/// The element types an array of a chunk may have; the numbers are part of the file format.
enum class ElementType : uint8_t { u8 = 0, i32 = 1, f32 = 2, f64 = 3, u64 = 4 };

/// Size of one element in bytes.
size_t element_size(ElementType type);

/// Name of an element type as the documentation writes it ("f32").
const char* element_type_name(ElementType type);

template <class T>
inline constexpr ElementType element_type_of = std::is_same_v<T, uint8_t>   ? ElementType::u8
                                               : std::is_same_v<T, int32_t> ? ElementType::i32
                                               : std::is_same_v<T, float>   ? ElementType::f32
                                               : std::is_same_v<T, double>  ? ElementType::f64
                                                                            : ElementType::u64;

/// One array of a chunk: `size / components` rows of `components` elements each.
struct ChunkArray {
  std::string name;
  ElementType type = ElementType::u8;
  uint32_t components = 1;
  Bytes data;

  /// Number of rows.
  size_t rows() const { return data.size() / (element_size(type) * components); }
};

/// A set of named arrays, written to and read from one checksummed block of bytes.
class Chunk {
 public:
  /// Adds an array of rows with `components` elements each; names must be unique.
  template <class T>
  void add(std::string name, std::span<const T> values, uint32_t components = 1) {
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    add(ChunkArray{std::move(name), element_type_of<T>, components,
                   Bytes(first, first + values.size_bytes())});
  }

  /// Adds an array; throws a simulation error when it could not be read back: a name that is
  /// empty, too long or taken, or data that is not a whole number of rows.
  void add(ChunkArray array);

  /// Adds a text as bytes.
  void add_text(std::string name, std::string_view text);

  /// The array of that name, or null.
  const ChunkArray* find(std::string_view name) const;

  /// The elements of the array `name`; throws an input error naming `file` when the array is
  /// missing, of another type, of another number of components, or not of `rows` rows (if >= 0).
  template <class T>
  std::vector<T> get(std::string_view name, uint32_t components, int64_t rows,
                     std::string_view file) const {
    const ChunkArray& array = require(name, element_type_of<T>, components, rows, file);
    std::vector<T> values(array.data.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), array.data.data(), array.data.size());
    return values;
  }

  /// The text stored under `name`; throws an input error naming `file` when it is missing.
  std::string get_text(std::string_view name, std::string_view file) const;

  /// All arrays, in the order they were added.
  const std::vector<ChunkArray>& arrays() const { return m_arrays; }

  /// The chunk as bytes: header, array table, data, checksum.
  Bytes serialise() const;

  /// Reads a chunk back; throws an input error naming `file` when any byte is wrong.
  static Chunk parse(ByteView bytes, std::string_view file);

 private:
  const ChunkArray& require(std::string_view name, ElementType type, uint32_t components,
                            int64_t rows, std::string_view file) const;

  std::vector<ChunkArray> m_arrays;
};

/// 64-bit checksum (XXH3) of a block of bytes.
uint64_t checksum(ByteView bytes);

}  // namespace supple
