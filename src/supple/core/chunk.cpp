#include "supple/core/chunk.h"

#include <xxhash.h>

#include <unordered_set>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr std::string_view magic = "SUPPLECK";
constexpr uint32_t format_version = 1;
constexpr size_t header_size = 32;  // magic, version, array count, total size, table size
constexpr size_t alignment = 64;
constexpr size_t longest_name = 255;

size_t aligned(size_t offset) { return (offset + alignment - 1) / alignment * alignment; }

bool is_whole_rows(ElementType type, uint32_t components, uint64_t size) {
  return components > 0 && size % (element_size(type) * uint64_t{components}) == 0;
}

// Reads the array table; every read is checked against the table's end.
class TableReader {
 public:
  TableReader(ByteView bytes, std::string_view file) : m_bytes(bytes), m_file(file) {}

  template <class T>
  T read() {
    need(sizeof(T));
    const T value = load_at<T>(m_bytes, m_offset);
    m_offset += sizeof(T);
    return value;
  }

  std::string read_text(size_t size) {
    need(size);
    std::string text(as_text(m_bytes.subspan(m_offset, size)));
    m_offset += size;
    return text;
  }

 private:
  void need(size_t size) const {
    if (size > m_bytes.size() - m_offset)
      throw_input_error(m_file, "chunk", "array table is cut short");
  }

  ByteView m_bytes;
  std::string_view m_file;
  size_t m_offset = 0;
};

}  // namespace

size_t element_size(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return 1;
    case ElementType::i32:
    case ElementType::f32:
      return 4;
    case ElementType::f64:
    case ElementType::u64:
      return 8;
  }
  return 1;
}

const char* element_type_name(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return "u8";
    case ElementType::i32:
      return "i32";
    case ElementType::f32:
      return "f32";
    case ElementType::f64:
      return "f64";
    case ElementType::u64:
      return "u64";
  }
  return "u8";
}

uint64_t checksum(ByteView bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void Chunk::add(ChunkArray array) {
  if (array.name.empty() || array.name.size() > longest_name || find(array.name))
    throw Error(
        ErrorKind::simulation,
        fmt::format("chunk array name '{}' is empty, too long or taken", printable(array.name)));
  if (!is_whole_rows(array.type, array.components, array.data.size()))
    throw Error(ErrorKind::simulation,
                fmt::format("chunk array '{}': {} bytes are not rows of {}", array.name,
                            array.data.size(), array.components));
  m_arrays.push_back(std::move(array));
}

void Chunk::add_text(std::string name, std::string_view text) {
  add<uint8_t>(std::move(name), {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

const ChunkArray* Chunk::find(std::string_view name) const {
  for (const ChunkArray& array : m_arrays)
    if (array.name == name) return &array;
  return nullptr;
}

const ChunkArray& Chunk::require(std::string_view name, ElementType type, uint32_t components,
                                 int64_t rows, std::string_view file) const {
  const ChunkArray* array = find(name);
  if (!array) throw_input_error(file, name, "array is missing");
  if (array->type != type || array->components != components)
    throw_input_error(
        file, name,
        fmt::format("array is {} x{}, expected {} x{}", element_type_name(array->type),
                    array->components, element_type_name(type), components));
  if (rows >= 0 && array->rows() != static_cast<size_t>(rows))
    throw_input_error(file, name,
                      fmt::format("array has {} rows, expected {}", array->rows(), rows));
  return *array;
}

std::string Chunk::get_text(std::string_view name, std::string_view file) const {
  return std::string(as_text(require(name, ElementType::u8, 1, -1, file).data));
}

Bytes Chunk::serialise() const {
  // The table's size does not depend on the offsets in it, so lay out first, then write.
  size_t table_size = 0;
  for (const ChunkArray& array : m_arrays) table_size += 1 + array.name.size() + 1 + 4 + 8 + 8;
  size_t offset = aligned(header_size + table_size);
  Bytes table;
  for (const ChunkArray& array : m_arrays) {
    append(table, static_cast<uint8_t>(array.name.size()));
    append_text(table, array.name);
    append(table, static_cast<uint8_t>(array.type));
    append(table, array.components);
    append(table, static_cast<uint64_t>(offset));
    append(table, static_cast<uint64_t>(array.data.size()));
    offset = aligned(offset + array.data.size());
  }
  const size_t total = offset + sizeof(uint64_t);

  Bytes bytes;
  bytes.reserve(total);
  append_text(bytes, magic);
  append(bytes, format_version);
  append(bytes, static_cast<uint32_t>(m_arrays.size()));
  append(bytes, static_cast<uint64_t>(total));
  append(bytes, static_cast<uint64_t>(table_size));
  bytes.insert(bytes.end(), table.begin(), table.end());
  for (const ChunkArray& array : m_arrays) {
    bytes.resize(aligned(bytes.size()));
    bytes.insert(bytes.end(), array.data.begin(), array.data.end());
  }
  bytes.resize(offset);
  append(bytes, checksum(bytes));
  return bytes;
}

Chunk Chunk::parse(ByteView bytes, std::string_view file) {
  if (bytes.size() < header_size + sizeof(uint64_t))
    throw_input_error(file, "chunk", "is cut short");
  if (as_text(bytes.first(magic.size())) != magic)
    throw_input_error(file, "chunk", "does not start with the chunk signature");
  const auto found_version = load_at<uint32_t>(bytes, 8);
  if (found_version != format_version)
    throw_input_error(
        file, "chunk",
        fmt::format("has format version {}, this program reads {}", found_version, format_version));
  const auto count = load_at<uint32_t>(bytes, 12);
  const auto total = load_at<uint64_t>(bytes, 16);
  const auto table_size = load_at<uint64_t>(bytes, 24);
  if (total != bytes.size())
    throw_input_error(file, "chunk",
                      fmt::format("is {} bytes long, expected {}", bytes.size(), total));
  const ByteView payload = bytes.first(bytes.size() - sizeof(uint64_t));
  if (checksum(payload) != load_at<uint64_t>(bytes, payload.size()))
    throw_input_error(file, "chunk", "checksum does not match: the file is damaged");
  if (table_size > payload.size() - header_size)
    throw_input_error(file, "chunk", "array table is larger than the file");

  Chunk chunk;
  TableReader table(payload.subspan(header_size, table_size), file);
  std::unordered_set<std::string> names;
  uint64_t free_from = header_size + table_size;  // arrays lie one after the other
  for (uint32_t i = 0; i < count; ++i) {
    ChunkArray array;
    array.name = table.read_text(table.read<uint8_t>());
    const auto type = table.read<uint8_t>();
    array.components = table.read<uint32_t>();
    const auto offset = table.read<uint64_t>();
    const auto size = table.read<uint64_t>();
    if (array.name.empty() || !names.insert(array.name).second)
      throw_input_error(file, "chunk", "has an array with an empty or repeated name");
    if (type > static_cast<uint8_t>(ElementType::u64))
      throw_input_error(file, array.name, fmt::format("unknown element type {}", type));
    array.type = static_cast<ElementType>(type);
    if (offset > payload.size() || size > payload.size() - offset)
      throw_input_error(file, array.name, "array lies outside the file");
    if (offset < free_from)
      throw_input_error(file, array.name, "array overlaps what lies before it");
    free_from = offset + size;
    if (!is_whole_rows(array.type, array.components, size))
      throw_input_error(file, array.name, "array is not a whole number of rows");
    const ByteView data = payload.subspan(offset, size);
    array.data.assign(data.begin(), data.end());
    chunk.m_arrays.push_back(std::move(array));
  }
  return chunk;
}

}  // namespace supple
