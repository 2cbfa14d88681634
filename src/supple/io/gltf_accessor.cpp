#include "supple/io/gltf_accessor.h"

#include <cmath>

#include "supple/core/error.h"

namespace supple {
namespace {

// How the elements of an accessor lie in memory.
struct Layout {
  GltfComponent component;
  bool normalised = false;
  int components = 1;
  int columns = 1;           // matrices are stored column by column, each column aligned to 4 bytes
  size_t column_stride = 0;  // bytes from column to column
  size_t element_size = 0;   // bytes an element takes
  size_t count = 0;
};

JsonField accessor_of(const GltfDocument& document, const JsonField& field) {
  const JsonField accessors = document.fields()["accessors"];
  return accessors[static_cast<size_t>(field.index(accessors.size(), "accessors"))];
}

Layout layout_of(const JsonField& accessor) {
  Layout layout;
  const int64_t component = accessor["componentType"].integer();
  const size_t size = component_size(component);
  if (size == 0) accessor["componentType"].fail(fmt::format("{} is no component type", component));
  layout.component = static_cast<GltfComponent>(component);
  const std::string type = accessor["type"].text();
  layout.components = components_of_type(type);
  if (layout.components == 0)
    accessor["type"].fail(fmt::format("'{}' is no element type", printable(type)));
  layout.columns = type.starts_with("MAT") ? type[3] - '0' : 1;
  const size_t column_size = size * static_cast<size_t>(layout.components / layout.columns);
  layout.column_stride = layout.columns > 1 ? (column_size + 3) / 4 * 4 : column_size;
  layout.element_size =
      layout.column_stride * static_cast<size_t>(layout.columns - 1) + column_size;
  if (const auto normalised = accessor.find("normalized"))
    layout.normalised = normalised->boolean();
  layout.count = static_cast<size_t>(accessor["count"].integer(0, 0xFFFFFFFFll));
  return layout;
}

// The bytes of a buffer view from `offset` on, holding `count` elements of `size` bytes, `stride`
// apart.
struct Strided {
  ByteView bytes;
  size_t stride = 0;
};

Strided strided_view(const GltfDocument& document, const JsonField& owner, size_t size,
                     size_t count) {
  const JsonField views = document.fields()["bufferViews"];
  const JsonField view =
      views[static_cast<size_t>(owner["bufferView"].index(views.size(), "buffer views"))];
  const auto buffer = static_cast<size_t>(view["buffer"].index(document.buffers.size(), "buffers"));
  const ByteView data = document.buffers[buffer];
  constexpr int64_t most = int64_t{1} << 40;
  const auto whole = [&](const JsonField& from, std::string_view key, int64_t fallback) {
    const auto found = from.find(key);
    return static_cast<size_t>(found ? found->integer(0, most) : fallback);
  };
  const size_t start = whole(view, "byteOffset", 0);
  const auto length = static_cast<size_t>(view["byteLength"].integer(0, most));
  if (start > data.size() || length > data.size() - start)
    view.fail(fmt::format("reaches past the end of its buffer ({} bytes)", data.size()));
  const size_t offset = whole(owner, "byteOffset", 0);
  const size_t stride =
      view.has("byteStride") ? static_cast<size_t>(view["byteStride"].integer(1, 252)) : size;
  if (count > 0 && (offset > length || size > length - offset ||
                    (count > 1 && (length - offset - size) / stride < count - 1)))
    owner.fail(fmt::format("{} elements do not fit into buffer view {} ({} bytes)", count,
                           owner["bufferView"].integer(), length));
  return {count == 0 ? ByteView{} : data.subspan(start + offset, (count - 1) * stride + size),
          stride};
}

double component_at(ByteView bytes, size_t offset, GltfComponent component) {
  switch (component) {
    case GltfComponent::i8:
      return load_at<int8_t>(bytes, offset);
    case GltfComponent::u8:
      return load_at<uint8_t>(bytes, offset);
    case GltfComponent::i16:
      return load_at<int16_t>(bytes, offset);
    case GltfComponent::u16:
      return load_at<uint16_t>(bytes, offset);
    case GltfComponent::u32:
      return load_at<uint32_t>(bytes, offset);
    case GltfComponent::f32:
      return load_at<float>(bytes, offset);
  }
  return 0;
}

// glTF 2.0, "Animations" and "Accessors": f = c / max, signed types clamped at -1.
double normalised_value(double value, GltfComponent component) {
  switch (component) {
    case GltfComponent::i8:
      return std::max(value / 127, -1.0);
    case GltfComponent::u8:
      return value / 255;
    case GltfComponent::i16:
      return std::max(value / 32767, -1.0);
    case GltfComponent::u16:
      return value / 65535;
    case GltfComponent::u32:
      return value / 4294967295.0;
    case GltfComponent::f32:
      return value;
  }
  return value;
}

// Calls `store(element, component, value)` for every component of `count` elements.
template <class Store>
void read_elements(const Strided& from, const Layout& layout, size_t count, const Store& store) {
  const int rows = layout.components / layout.columns;
  const size_t size = component_size(static_cast<int64_t>(layout.component));
  for (size_t e = 0; e < count; ++e)
    for (int c = 0; c < layout.components; ++c) {
      const size_t offset = e * from.stride + static_cast<size_t>(c / rows) * layout.column_stride +
                            static_cast<size_t>(c % rows) * size;
      const double raw = component_at(from.bytes, offset, layout.component);
      store(e, c, layout.normalised ? normalised_value(raw, layout.component) : raw);
    }
}

// Replaces the elements named by the accessor's sparse part.
template <class Store>
void read_sparse(const GltfDocument& document, const JsonField& sparse, const Layout& layout,
                 const Store& store) {
  const auto count =
      static_cast<size_t>(sparse["count"].integer(0, static_cast<int64_t>(layout.count)));
  const JsonField where = sparse["indices"];
  const int64_t component = where["componentType"].integer();
  if (component != 5121 && component != 5123 && component != 5125)
    where["componentType"].fail(fmt::format("{} is not an unsigned integer type", component));
  Layout index_layout;
  index_layout.component = static_cast<GltfComponent>(component);
  index_layout.element_size = component_size(component);
  const Strided indices = strided_view(document, where, index_layout.element_size, count);
  const Strided values = strided_view(document, sparse["values"], layout.element_size, count);
  std::vector<size_t> target(count);
  read_elements(indices, index_layout, count, [&](size_t e, int, double value) {
    if (value >= static_cast<double>(layout.count))
      where.fail(fmt::format("index {} is past the last element {}", value, layout.count - 1));
    target[e] = static_cast<size_t>(value);
  });
  read_elements(values, layout, count,
                [&](size_t e, int c, double value) { store(target[e], c, value); });
}

template <class T>
std::vector<T> read_accessor(const GltfDocument& document, const JsonField& accessor,
                             const Layout& layout) {
  // An accessor without data stands for zeros; nothing in the file bounds its size, so we do.
  if (!accessor.has("bufferView")) {
    size_t total = 0;
    for (const Bytes& buffer : document.buffers) total += buffer.size();
    if (layout.count > 1'000'000 + 64 * total)
      accessor["count"].fail(fmt::format("{} elements without data are too many", layout.count));
  }
  Strided from;
  if (accessor.has("bufferView"))
    from = strided_view(document, accessor, layout.element_size, layout.count);
  std::vector<T> values(layout.count * static_cast<size_t>(layout.components), T{0});
  const auto store = [&](size_t e, int c, double value) {
    values[e * static_cast<size_t>(layout.components) + static_cast<size_t>(c)] =
        static_cast<T>(value);
  };
  if (accessor.has("bufferView")) read_elements(from, layout, layout.count, store);
  if (const auto sparse = accessor.find("sparse")) read_sparse(document, *sparse, layout, store);
  return values;
}

void expect_components(const JsonField& accessor, const Layout& layout, int components) {
  if (layout.components != components)
    accessor["type"].fail(
        fmt::format("has {} components per element, expected {}", layout.components, components));
}

}  // namespace

size_t component_size(int64_t component) {
  switch (component) {
    case 5120:
    case 5121:
      return 1;
    case 5122:
    case 5123:
      return 2;
    case 5125:
    case 5126:
      return 4;
    default:
      return 0;
  }
}

int components_of_type(std::string_view type) {
  if (type == "SCALAR") return 1;
  if (type == "VEC2") return 2;
  if (type == "VEC3") return 3;
  if (type == "VEC4" || type == "MAT2") return 4;
  if (type == "MAT3") return 9;
  if (type == "MAT4") return 16;
  return 0;
}

std::vector<float> read_float_accessor(const GltfDocument& document, const JsonField& field,
                                       int components) {
  const JsonField accessor = accessor_of(document, field);
  const Layout layout = layout_of(accessor);
  expect_components(accessor, layout, components);
  std::vector<float> values = read_accessor<float>(document, accessor, layout);
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      accessor.fail(
          fmt::format("element {} is not a finite number", i / static_cast<size_t>(components)));
  return values;
}

std::vector<uint32_t> read_integer_accessor(const GltfDocument& document, const JsonField& field,
                                            int components) {
  const JsonField accessor = accessor_of(document, field);
  Layout layout = layout_of(accessor);
  expect_components(accessor, layout, components);
  if (layout.component != GltfComponent::u8 && layout.component != GltfComponent::u16 &&
      layout.component != GltfComponent::u32)
    accessor["componentType"].fail("must be an unsigned integer type");
  layout.normalised = false;
  return read_accessor<uint32_t>(document, accessor, layout);
}

size_t accessor_count(const GltfDocument& document, const JsonField& field) {
  return layout_of(accessor_of(document, field)).count;
}

int accessor_components(const GltfDocument& document, const JsonField& field) {
  return layout_of(accessor_of(document, field)).components;
}

}  // namespace supple
