// Compressed geometry: the test assets, packed by the codecs' own encoders, read as they do plain.
#include <draco/compression/encode.h>
#include <draco/mesh/mesh.h>
#include <gtest/gtest.h>
#include <meshoptimizer.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "supple/core/error.h"
#include "supple/io/gltf_reader.h"
#include "support/gltf_samples.h"
#include "support/test_support.h"

namespace supple {
namespace {

using nlohmann::json;
using test::GltfSample;

constexpr const char* meshopt = "EXT_meshopt_compression";
constexpr const char* draco_name = "KHR_draco_mesh_compression";

Character read(const Bytes& glb) {
  return character_from_gltf(parse_gltf_document(glb, "packed.glb", {}));
}

// A .glb of a document that lists its buffers itself; the first one is `binary`.
Bytes glb_of(const json& document, const Bytes& binary) {
  std::string text = document.dump();
  text.resize((text.size() + 3) / 4 * 4, ' ');
  const size_t padded = (binary.size() + 3) / 4 * 4;
  Bytes file;
  for (const size_t word :
       {size_t{0x46546C67}, size_t{2}, 28 + text.size() + padded, text.size(), size_t{0x4E4F534A}})
    append(file, static_cast<uint32_t>(word));
  append_text(file, text);
  append(file, static_cast<uint32_t>(padded));
  append(file, uint32_t{0x004E4942});
  file.insert(file.end(), binary.begin(), binary.end());
  file.resize(28 + text.size() + padded);
  return file;
}

size_t components_of(const json& accessor) {
  const std::string type = accessor["type"];
  return type == "SCALAR" ? 1 : type == "MAT4" ? 16 : static_cast<size_t>(type[3] - '0');
}

size_t component_bytes(const json& accessor) {
  const int type = accessor["componentType"];
  return type <= 5121 ? 1 : type <= 5123 ? 2 : 4;
}

// A packed asset: the file in two parts, so that tests can damage the packed bytes alone.
struct Packed {
  json document;
  Bytes binary;
  Bytes plain;  ///< an uncompressed .glb that must read the same

  Bytes glb() const { return glb_of(document, binary); }
};

// --- meshopt -------------------------------------------------------------------------------------

enum class IndexMode { triangles, sequence };

template <class Encode>
Bytes encoded(size_t bound, const Encode& encode) {
  Bytes result(bound);
  result.resize(encode(reinterpret_cast<unsigned char*>(result.data()), bound));
  return result;
}

Bytes encode_indices(ByteView raw, size_t size, IndexMode mode) {
  std::vector<unsigned> indices;
  for (size_t at = 0; at < raw.size(); at += size)
    indices.push_back(size == 2 ? load_at<uint16_t>(raw, at) : load_at<uint32_t>(raw, at));
  const size_t count = indices.size();
  if (mode == IndexMode::triangles)
    return encoded(meshopt_encodeIndexBufferBound(count, 65536), [&](unsigned char* to, size_t n) {
      return meshopt_encodeIndexBuffer(to, n, indices.data(), count);
    });
  return encoded(meshopt_encodeIndexSequenceBound(count, 65536), [&](unsigned char* to, size_t n) {
    return meshopt_encodeIndexSequence(to, n, indices.data(), count);
  });
}

Bytes encode_vertices(ByteView raw, size_t stride) {
  const size_t count = raw.size() / stride;
  return encoded(meshopt_encodeVertexBufferBound(count, stride), [&](unsigned char* to, size_t n) {
    return meshopt_encodeVertexBuffer(to, n, raw.data(), count, stride);
  });
}

// Floats through the exponential filter, and what comes out of it by its definition: the low 24
// bits are a signed mantissa, the high 8 a signed exponent, value = mantissa * 2^exponent.
Bytes through_exponential_filter(ByteView raw, size_t stride, Bytes& decoded) {
  Bytes filtered(raw.size());
  std::vector<float> values(raw.size() / 4);
  std::memcpy(values.data(), raw.data(), raw.size());
  meshopt_encodeFilterExp(filtered.data(), raw.size() / stride, stride, 15, values.data());
  decoded.clear();
  for (size_t at = 0; at < filtered.size(); at += 4) {
    const auto bits = load_at<int32_t>(filtered, at);
    const int32_t mantissa = static_cast<int32_t>(static_cast<uint32_t>(bits) << 8) >> 8;
    append(decoded, static_cast<float>(std::ldexp(mantissa, bits >> 24)));
  }
  return filtered;
}

// The accessor over each buffer view, or null.
std::vector<const json*> accessors_of_views(const json& document) {
  std::vector<const json*> result(document["bufferViews"].size(), nullptr);
  for (const json& accessor : document["accessors"])
    if (accessor.contains("bufferView") && !accessor.contains("sparse"))
      result[accessor["bufferView"]] = &accessor;
  return result;
}

std::vector<bool> index_views(const json& document) {
  std::vector<bool> result(document["bufferViews"].size(), false);
  for (const json& mesh : document["meshes"])
    for (const json& primitive : mesh["primitives"])
      if (primitive.contains("indices") && primitive.value("mode", 4) == 4)
        result[document["accessors"][primitive["indices"].get<size_t>()]["bufferView"]] = true;
  return result;
}

Packed pack_meshopt(const GltfSample& sample, IndexMode mode, bool exponential) {
  Packed packed{sample.document, {}, {}};
  Bytes plain = sample.binary;
  const auto accessors = accessors_of_views(sample.document);
  const auto is_index = index_views(sample.document);
  for (size_t v = 0; v < accessors.size(); ++v) {
    json& view = packed.document["bufferViews"][v];
    const size_t offset = view["byteOffset"], length = view["byteLength"];
    const ByteView raw = ByteView(sample.binary).subspan(offset, length);
    const size_t size = accessors[v] ? component_bytes(*accessors[v]) : 1;
    const size_t stride =
        view.value("byteStride", accessors[v] ? size * components_of(*accessors[v]) : 1);
    const bool pack_index = is_index[v] && size > 1;
    if (!accessors[v] || (!pack_index && stride % 4 != 0) || length % stride != 0) {
      view["byteOffset"] = packed.binary.size();  // stays as it is
      packed.binary.insert(packed.binary.end(), raw.begin(), raw.end());
      packed.binary.resize((packed.binary.size() + 3) / 4 * 4);
      continue;
    }
    json extension = {{"buffer", 0},
                      {"byteOffset", packed.binary.size()},
                      {"byteStride", stride},
                      {"count", length / stride},
                      {"mode", "ATTRIBUTES"}};
    Bytes data;
    if (pack_index) {
      extension["mode"] = mode == IndexMode::triangles ? "TRIANGLES" : "INDICES";
      data = encode_indices(raw, size, mode);
    } else if (exponential && (*accessors[v])["componentType"] == 5126 && stride <= 16) {
      extension["filter"] = "EXPONENTIAL";
      Bytes decoded;
      data = encode_vertices(through_exponential_filter(raw, stride, decoded), stride);
      std::copy(decoded.begin(), decoded.end(), plain.begin() + static_cast<ptrdiff_t>(offset));
    } else {
      data = encode_vertices(raw, stride);
    }
    extension["byteLength"] = data.size();
    packed.binary.insert(packed.binary.end(), data.begin(), data.end());
    view["buffer"] = 1;
    view["extensions"][meshopt] = extension;
  }
  packed.document["buffers"] = {
      {{"byteLength", packed.binary.size()}},
      {{"byteLength", sample.binary.size()}, {"extensions", {{meshopt, {{"fallback", true}}}}}}};
  for (const char* list : {"extensionsUsed", "extensionsRequired"})
    packed.document[list].push_back(meshopt);
  packed.plain = test::make_glb(sample.document, plain);
  return packed;
}

// A triangle that starts with its smallest corner: the codec may turn triangles.
Vec3i turned(Vec3i t) {
  while (t[0] > t[1] || t[0] > t[2]) t = Vec3i(t[1], t[2], t[0]);
  return t;
}

void expect_same(const Character& a, const Character& b, const std::string& what) {
  EXPECT_EQ(a.skin.positions, b.skin.positions) << what;
  ASSERT_EQ(a.skin.triangles.size(), b.skin.triangles.size()) << what;
  for (size_t t = 0; t < a.skin.triangles.size(); ++t)
    ASSERT_EQ(turned(a.skin.triangles[t]), turned(b.skin.triangles[t])) << what;
  EXPECT_EQ(a.weights.offsets, b.weights.offsets) << what;
  ASSERT_EQ(a.weights.influences.size(), b.weights.influences.size()) << what;
  for (size_t i = 0; i < a.weights.influences.size(); ++i) {
    EXPECT_EQ(a.weights.influences[i].bind, b.weights.influences[i].bind) << what;
    EXPECT_EQ(a.weights.influences[i].weight, b.weights.influences[i].weight) << what;
  }
  ASSERT_EQ(a.clips.size(), b.clips.size()) << what;
  for (size_t c = 0; c < a.clips.size(); ++c) {
    ASSERT_EQ(a.clips[c].channels.size(), b.clips[c].channels.size()) << what;
    for (size_t k = 0; k < a.clips[c].channels.size(); ++k) {
      EXPECT_EQ(a.clips[c].channels[k].times, b.clips[c].channels[k].times) << what;
      EXPECT_EQ(a.clips[c].channels[k].values, b.clips[c].channels[k].values) << what;
    }
  }
}

TEST(Meshopt, EverySampleReadsTheSameToTheBit) {
  for (const GltfSample& sample : test::gltf_samples())
    for (const IndexMode mode : {IndexMode::triangles, IndexMode::sequence}) {
      const Packed packed = pack_meshopt(sample, mode, false);
      expect_same(read(packed.glb()), read(sample.bytes), sample.name);
      EXPECT_NE(packed.document.dump().find("ATTRIBUTES"), std::string::npos) << sample.name;
    }
}

TEST(Meshopt, ExponentialFilterDecodesByItsDefinition) {
  for (const GltfSample& sample : {test::rigged_tube(), test::eight_influences()}) {
    const Packed packed = pack_meshopt(sample, IndexMode::triangles, true);
    EXPECT_NE(packed.document.dump().find("EXPONENTIAL"), std::string::npos);
    expect_same(read(packed.glb()), read(packed.plain), sample.name);
    EXPECT_NE(read(packed.plain).skin.positions, read(sample.bytes).skin.positions)
        << "the filter must lose something, or this shows nothing";
  }
}

TEST(Meshopt, DamageIsRefused) {
  for (const IndexMode mode : {IndexMode::triangles, IndexMode::sequence}) {
    const Packed packed = pack_meshopt(test::rigged_tube(), mode, true);
    const auto read_damaged = [&](Bytes binary) {
      binary.resize(packed.binary.size());
      read(glb_of(packed.document, binary));
    };
    test::expect_damage_is_refused(packed.binary, read_damaged, 300, 1500);
  }
  const Bytes glb = pack_meshopt(test::split_seams(), IndexMode::triangles, false).glb();
  test::expect_damage_is_refused(
      glb, [](const Bytes& b) { read(b); }, 300, 1500);
}

TEST(Meshopt, LiesAboutSizesAreRefused) {
  const Packed packed = pack_meshopt(test::rigged_tube(), IndexMode::triangles, false);
  for (size_t v = 0; v < packed.document["bufferViews"].size(); ++v) {
    if (!packed.document["bufferViews"][v].contains("extensions")) continue;
    const auto refused = [&](const char* field, const json& value) {
      json document = packed.document;
      document["bufferViews"][v]["extensions"][meshopt][field] = value;
      EXPECT_THROW(read(glb_of(document, packed.binary)), Error) << field << " " << value;
    };
    for (const json& count : {json(-1), json(4294967295u), json(1e18), json("x")})
      refused("count", count);
    for (const int stride : {0, 3, 257, -4}) refused("byteStride", stride);
    refused("byteLength", 1 << 30);
    refused("byteLength", 0);
    refused("byteOffset", -1);
    refused("buffer", 7);
    refused("mode", "POINTS");
    refused("filter", "QUATERNIONS");
  }
}

// --- Draco ---------------------------------------------------------------------------------------

draco::DataType draco_type(int component) {
  switch (component) {
    case 5121:
      return draco::DT_UINT8;
    case 5123:
      return draco::DT_UINT16;
    case 5125:
      return draco::DT_UINT32;
    default:
      return draco::DT_FLOAT32;
  }
}

draco::GeometryAttribute::Type draco_meaning(const std::string& name) {
  if (name == "POSITION") return draco::GeometryAttribute::POSITION;
  if (name == "NORMAL") return draco::GeometryAttribute::NORMAL;
  if (name.starts_with("TEXCOORD")) return draco::GeometryAttribute::TEX_COORD;
  return draco::GeometryAttribute::GENERIC;
}

// The raw elements of an accessor, tightly packed.
Bytes raw_elements(const GltfSample& sample, const json& accessor) {
  const json& view = sample.document["bufferViews"][accessor["bufferView"].get<size_t>()];
  const size_t element = component_bytes(accessor) * components_of(accessor);
  const size_t stride = view.value("byteStride", element);
  const size_t first = view["byteOffset"].get<size_t>() + accessor.value("byteOffset", size_t{0});
  Bytes result;
  for (size_t i = 0; i < accessor["count"].get<size_t>(); ++i) {
    const auto at = sample.binary.begin() + static_cast<ptrdiff_t>(first + i * stride);
    result.insert(result.end(), at, at + static_cast<ptrdiff_t>(element));
  }
  return result;
}

// Packs the only primitive of a sample; 0 bits keep floats as they are, in the file's order.
Packed pack_draco(const GltfSample& sample, int bits) {
  Packed packed{sample.document, sample.binary, sample.bytes};
  json& primitive = packed.document["meshes"][0]["primitives"][0];
  json& accessors = packed.document["accessors"];
  draco::Mesh mesh;
  json ids;
  for (const auto& [name, index] : primitive["attributes"].items()) {
    json& accessor = accessors[index.get<size_t>()];
    const Bytes values = raw_elements(sample, accessor);
    const auto count = accessor["count"].get<uint32_t>();
    mesh.set_num_points(count);
    draco::GeometryAttribute attribute;
    const auto components = static_cast<int8_t>(components_of(accessor));
    const size_t element = values.size() / count;
    attribute.Init(draco_meaning(name), nullptr, components, draco_type(accessor["componentType"]),
                   accessor.value("normalized", false), static_cast<int64_t>(element), 0);
    const int id = mesh.AddAttribute(attribute, true, count);
    for (uint32_t i = 0; i < count; ++i)
      mesh.attribute(id)->SetAttributeValue(draco::AttributeValueIndex(i),
                                            values.data() + i * element);
    ids[name] = mesh.attribute(id)->unique_id();
    accessor.erase("bufferView");
    accessor.erase("byteOffset");
  }
  json& indices = accessors[primitive["indices"].get<size_t>()];
  const Bytes corners = raw_elements(sample, indices);
  const auto corner = [&](size_t i) {
    return draco::PointIndex(component_bytes(indices) == 2   ? load_at<uint16_t>(corners, 2 * i)
                             : component_bytes(indices) == 4 ? load_at<uint32_t>(corners, 4 * i)
                                                             : static_cast<uint32_t>(corners[i]));
  };
  for (size_t f = 0; f < indices["count"].get<size_t>() / 3; ++f)
    mesh.AddFace({corner(3 * f), corner(3 * f + 1), corner(3 * f + 2)});
  indices.erase("bufferView");

  draco::Encoder encoder;
  encoder.SetEncodingMethod(bits ? draco::MESH_EDGEBREAKER_ENCODING
                                 : draco::MESH_SEQUENTIAL_ENCODING);
  if (bits) encoder.SetAttributeQuantization(draco::GeometryAttribute::POSITION, bits);
  draco::EncoderBuffer buffer;
  EXPECT_TRUE(encoder.EncodeMeshToBuffer(mesh, &buffer).ok());
  const auto* data = reinterpret_cast<const std::byte*>(buffer.data());
  primitive["extensions"][draco_name] = {{"bufferView", packed.document["bufferViews"].size()},
                                         {"attributes", ids}};
  packed.document["bufferViews"].push_back(
      {{"buffer", 0}, {"byteOffset", packed.binary.size()}, {"byteLength", buffer.size()}});
  packed.binary.insert(packed.binary.end(), data, data + buffer.size());
  packed.document["buffers"] = {{{"byteLength", packed.binary.size()}}};
  for (const char* list : {"extensionsUsed", "extensionsRequired"})
    packed.document[list].push_back(draco_name);
  return packed;
}

TEST(Draco, UnquantisedMeshesReadTheSameToTheBit) {
  for (const GltfSample& sample : {test::rigged_tube(), test::eight_influences(),
                                   test::rest_differs_from_bind(), test::split_seams()})
    expect_same(read(pack_draco(sample, 0).glb()), read(sample.bytes), sample.name);
}

TEST(Draco, QuantisedMeshesStayWithinAStep) {
  for (const GltfSample& sample : {test::rigged_tube(), test::eight_influences()}) {
    const Character plain = read(sample.bytes), found = read(pack_draco(sample, 14).glb());
    // Points come back in another order: each must lie on one of the originals with its weights.
    ASSERT_EQ(found.skin.positions.size(), plain.skin.positions.size());
    const double extent = bounding_box(plain.skin.positions).sizes().maxCoeff();
    const double step = extent / (1 << 14);
    std::vector<bool> taken(plain.skin.positions.size(), false);
    for (size_t v = 0; v < found.skin.positions.size(); ++v) {
      size_t nearest = 0;
      for (size_t k = 0; k < taken.size(); ++k)
        if ((found.skin.positions[v] - plain.skin.positions[k]).norm() <
            (found.skin.positions[v] - plain.skin.positions[nearest]).norm())
          nearest = k;
      EXPECT_LT((found.skin.positions[v] - plain.skin.positions[nearest]).norm(), 2 * step);
      EXPECT_FALSE(taken[nearest]) << "two points became one";
      taken[nearest] = true;
      const auto a = found.weights.of(v), b = plain.weights.of(nearest);
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].bind, b[i].bind);
        EXPECT_EQ(a[i].weight, b[i].weight);
      }
    }
    EXPECT_EQ(found.skin.triangles.size(), plain.skin.triangles.size());
    EXPECT_NEAR(signed_volume(found.skin.positions, found.skin.triangles),
                signed_volume(plain.skin.positions, plain.skin.triangles), 10 * step);
  }
}

TEST(Draco, DamageIsRefused) {
  for (const int bits : {0, 14}) {
    const Packed packed = pack_draco(test::split_seams(), bits);
    const json& view = packed.document["bufferViews"].back();
    const auto offset = static_cast<ptrdiff_t>(view["byteOffset"].get<size_t>());
    const Bytes good(packed.binary.begin() + offset, packed.binary.end());
    const auto read_damaged = [&](Bytes data) {
      data.resize(good.size());
      Bytes binary = packed.binary;
      std::copy(data.begin(), data.end(), binary.begin() + offset);
      read(glb_of(packed.document, binary));
    };
    test::expect_damage_is_refused(good, read_damaged, 60, 150);
  }
}

TEST(Draco, WrongPromisesAreRefused) {
  const Packed packed = pack_draco(test::rigged_tube(), 0);
  const auto refused = [&](const std::string& what, const std::function<void(json&)>& change) {
    json document = packed.document;
    change(document);
    EXPECT_THROW(read(glb_of(document, packed.binary)), Error) << what;
  };
  const auto extension = [](json& d) -> json& {
    return d["meshes"][0]["primitives"][0]["extensions"][draco_name];
  };
  refused("no such attribute", [&](json& d) { extension(d)["attributes"]["POSITION"] = 77; });
  refused("not a number", [&](json& d) { extension(d)["attributes"]["POSITION"] = "x"; });
  refused("unknown name", [&](json& d) { extension(d)["attributes"]["_NONE"] = 0; });
  refused("no such view", [&](json& d) { extension(d)["bufferView"] = 999; });
  refused("no attributes", [&](json& d) { extension(d).erase("attributes"); });
  refused("another count", [&](json& d) {
    const size_t position = d["meshes"][0]["primitives"][0]["attributes"]["POSITION"];
    d["accessors"][position]["count"] = 193;
  });
  refused("another number of indices", [&](json& d) {
    const size_t indices = d["meshes"][0]["primitives"][0]["indices"];
    d["accessors"][indices]["count"] = 3;
  });
}

}  // namespace
}  // namespace supple
