// Chunks: what goes in comes out, and damage of any kind is found.
#include "supple/core/chunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "supple/core/error.h"
#include "support/test_support.h"

namespace supple {
namespace {

const std::vector<uint8_t> bytes_value = {0, 1, 255};
const std::vector<int32_t> ints_value = {-2147483647 - 1, 0, 7, 2147483647};
const std::vector<float> floats_value = {
    1.5f, -0.0f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::infinity(),
    3,    4};
const std::vector<double> doubles_value = {1e-300, -1e300};
const std::vector<uint64_t> longs_value = {0xFFFFFFFFFFFFFFFFull};

Chunk sample_chunk() {
  Chunk chunk;
  chunk.add<uint8_t>("bytes", bytes_value);
  chunk.add<int32_t>("ints", ints_value, 2);
  chunk.add<float>("floats", floats_value, 3);
  chunk.add<double>("doubles", doubles_value);
  chunk.add<uint64_t>("longs", longs_value);
  chunk.add<float>("nothing", std::vector<float>{}, 12);
  chunk.add_text("text", "Größe \n 1");
  return chunk;
}

template <class T>
void store(Bytes& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// Gives changed bytes a checksum that fits, so that the parser behind it is reached.
Bytes resealed(Bytes bytes) {
  if (bytes.size() < 40) return bytes;
  store(bytes, 16, static_cast<uint64_t>(bytes.size()));
  store(bytes, bytes.size() - 8, checksum(ByteView(bytes).first(bytes.size() - 8)));
  return bytes;
}

void expect_refused(const Bytes& bytes, const std::string& what) {
  try {
    Chunk::parse(bytes, "x.chunk");
    ADD_FAILURE() << what << " was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_TRUE(std::string(error.what()).starts_with("x.chunk: ")) << error.what();
  }
}

// One entry of an array table, written from the documented layout.
void append_entry(Bytes& table, const std::string& name, uint8_t type, uint32_t components,
                  uint64_t offset, uint64_t size) {
  append(table, static_cast<uint8_t>(name.size()));
  append_text(table, name);
  append(table, type);
  append(table, components);
  append(table, offset);
  append(table, size);
}

// A chunk with the given table and `data_size` zero bytes behind it.
Bytes chunk_with_table(uint32_t count, const Bytes& table, size_t data_size) {
  Bytes bytes;
  append_text(bytes, "SUPPLECK");
  append(bytes, uint32_t{1});
  append(bytes, count);
  append(bytes, uint64_t{0});
  append(bytes, static_cast<uint64_t>(table.size()));
  bytes.insert(bytes.end(), table.begin(), table.end());
  bytes.resize((bytes.size() + 63) / 64 * 64 + data_size + 8);
  return resealed(bytes);
}

TEST(Chunk, RoundTripsEveryType) {
  const Chunk chunk = Chunk::parse(sample_chunk().serialise(), "x.chunk");
  EXPECT_EQ(chunk.get<uint8_t>("bytes", 1, 3, "x"), bytes_value);
  EXPECT_EQ(chunk.get<int32_t>("ints", 2, 2, "x"), ints_value);
  EXPECT_EQ(chunk.get<double>("doubles", 1, 2, "x"), doubles_value);
  EXPECT_EQ(chunk.get<uint64_t>("longs", 1, 1, "x"), longs_value);
  EXPECT_EQ(chunk.get<float>("nothing", 12, 0, "x"), std::vector<float>{});
  EXPECT_EQ(chunk.get_text("text", "x"), "Größe \n 1");
  const std::vector<float> floats = chunk.get<float>("floats", 3, -1, "x");
  EXPECT_EQ(floats, floats_value);
  EXPECT_TRUE(std::signbit(floats[1]));
  ASSERT_EQ(chunk.arrays().size(), 7u);
  EXPECT_EQ(chunk.arrays()[1].name, "ints");
  EXPECT_EQ(chunk.arrays()[1].rows(), 2u);
  EXPECT_EQ(chunk.find("absent"), nullptr);
  EXPECT_EQ(chunk.serialise(), sample_chunk().serialise());
  EXPECT_TRUE(Chunk::parse(Chunk().serialise(), "x").arrays().empty());
}

TEST(Chunk, DataStartsOnMultiplesOf64) {
  const Bytes bytes = sample_chunk().serialise();
  const Bytes wanted = Chunk::parse(bytes, "x").find("doubles")->data;
  const auto found = std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
  ASSERT_NE(found, bytes.end());
  EXPECT_EQ((found - bytes.begin()) % 64, 0);
}

TEST(Chunk, EverySingleByteChangeIsFound) {
  const Bytes good = sample_chunk().serialise();
  for (size_t at = 0; at < good.size(); ++at)
    for (const int change : {1, 0x80, 0xFF}) {
      Bytes bad = good;
      bad[at] ^= static_cast<std::byte>(change);
      expect_refused(bad, "byte " + std::to_string(at));
    }
}

TEST(Chunk, EveryCutAndAnyTailIsFound) {
  const Bytes good = sample_chunk().serialise();
  for (size_t length = 0; length < good.size(); ++length)
    expect_refused(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(length)),
                   "cut at " + std::to_string(length));
  Bytes longer = good;
  longer.push_back(std::byte{0});
  expect_refused(longer, "a byte more");
}

TEST(Chunk, DamageBehindTheChecksumIsRefused) {
  const auto read = [](const Bytes& b) { Chunk::parse(resealed(b), "x.chunk"); };
  test::expect_damage_is_refused(sample_chunk().serialise(), read, 1000, 3000);
  // The header and the table alone, where damage matters most.
  Bytes good = sample_chunk().serialise();
  for (size_t at = 8; at < 260; ++at)
    for (int value = 0; value < 256; ++value) {
      Bytes bad = good;
      bad[at] = static_cast<std::byte>(value);
      try {
        read(bad);
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::input);
        ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
}

TEST(Chunk, LiesInTheTableAreRefused) {
  constexpr uint64_t huge = 0xFFFFFFFFFFFFFFFFull;
  const auto one = [](const std::string& name, uint8_t type, uint32_t components, uint64_t offset,
                      uint64_t size) {
    Bytes table;
    append_entry(table, name, type, components, offset, size);
    return chunk_with_table(1, table, 128);
  };
  EXPECT_EQ(Chunk::parse(one("a", 2, 1, 64, 128), "x").find("a")->rows(), 32u);
  expect_refused(one("a", 2, 0, 64, 128), "no components");
  expect_refused(one("a", 2, 5, 64, 128), "half a row");
  expect_refused(one("a", 5, 1, 64, 128), "unknown type");
  expect_refused(one("", 2, 1, 64, 128), "no name");
  expect_refused(one("a", 0, 1, 64, 136), "reaches into the checksum");
  expect_refused(one("a", 0, 1, huge, 2), "offset overflows");
  expect_refused(one("a", 0, 1, 64, huge), "size overflows");
  expect_refused(one("a", 0, 1, 0, 64), "header as data");
  Bytes bytes = one("a", 2, 1, 64, 128);
  store(bytes, 24, huge);
  expect_refused(resealed(bytes), "huge table");
  bytes = one("a", 2, 1, 64, 128);
  store(bytes, 12, 0xFFFFFFFFu);
  expect_refused(resealed(bytes), "four billion arrays");
}

TEST(Chunk, RepeatedNamesAndSharedDataAreRefused) {
  Bytes table;
  append_entry(table, "a", 0, 1, 64, 64);
  append_entry(table, "a", 0, 1, 128, 64);
  expect_refused(chunk_with_table(2, table, 192), "same name twice");
  table.clear();
  append_entry(table, "a", 0, 1, 128, 64);
  append_entry(table, "b", 0, 1, 128, 64);
  expect_refused(chunk_with_table(2, table, 192), "same data twice");
}

// 100,000 arrays that each claim the same megabyte would need 100 GB; many names must not take
// quadratic time either.
TEST(Chunk, SmallFilesCannotClaimMuchMemoryOrTime) {
  constexpr uint32_t count = 100000;
  Bytes shared, empty;
  const size_t start = (32 + count * (22 + 6) + 63) / 64 * 64;
  for (uint32_t i = 0; i < count; ++i) {
    append_entry(shared, std::to_string(100000 + i), 0, 1, start, 1 << 20);
    append_entry(empty, std::to_string(100000 + i), 0, 1, start, 0);
  }
  expect_refused(chunk_with_table(count, shared, 1 << 20), "one megabyte claimed often");
  const std::clock_t begin = std::clock();  // of this process: others may be busy
  EXPECT_EQ(Chunk::parse(chunk_with_table(count, empty, 64), "x").arrays().size(), count);
  EXPECT_LT(std::clock() - begin, 3 * CLOCKS_PER_SEC);
}

TEST(Chunk, WrongRequestsNameTheArray) {
  const Chunk chunk = sample_chunk();
  const auto refused = [&](const std::string& name, auto request) {
    try {
      request();
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_TRUE(std::string(error.what()).starts_with("f.chunk: " + name)) << error.what();
    }
  };
  refused("absent", [&] { chunk.get<float>("absent", 1, -1, "f.chunk"); });
  refused("floats", [&] { chunk.get<int32_t>("floats", 3, -1, "f.chunk"); });
  refused("floats", [&] { chunk.get<float>("floats", 2, -1, "f.chunk"); });
  refused("floats", [&] { chunk.get<float>("floats", 3, 3, "f.chunk"); });
  refused("ints", [&] { chunk.get_text("ints", "f.chunk"); });
}

// What could not be read back must not be written in the first place.
TEST(Chunk, BadArraysCannotBeAdded) {
  Chunk chunk;
  chunk.add<float>("a", floats_value, 3);
  EXPECT_THROW(chunk.add<float>("a", floats_value), Error);
  EXPECT_THROW(chunk.add<float>("", floats_value), Error);
  EXPECT_THROW(chunk.add<float>(std::string(256, 'n'), floats_value), Error);
  EXPECT_THROW(chunk.add<float>("b", floats_value, 0), Error);
  EXPECT_THROW(chunk.add<float>("b", floats_value, 4), Error);
  EXPECT_THROW(chunk.add(ChunkArray{"b", ElementType::f32, 1, Bytes(7)}), Error);
  chunk.add<float>(std::string(255, 'n'), floats_value);
  EXPECT_EQ(Chunk::parse(chunk.serialise(), "x").arrays().size(), 2u);
}

TEST(Chunk, ChecksumIsXxh3) {
  // The published value for no bytes and seed 0.
  EXPECT_EQ(checksum({}), 0x2D06800538D394C2ull);
}

}  // namespace
}  // namespace supple
