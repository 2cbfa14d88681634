// The way back into Blender: caches written by the library, played by Blender's Mesh Cache
// modifier.
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "export_test_support.h"
#include "supple/io/mdd_writer.h"
#include "supple/io/obj_sequence_writer.h"
#include "supple/io/pc2_writer.h"

namespace supple::test {
namespace {

nlohmann::json to_json(const std::vector<Vec3f>& positions) {
  nlohmann::json list = nlohmann::json::array();
  for (const Vec3f& position : positions) {
    const Vec3f p = z_up(position);
    list.push_back({p[0], p[1], p[2]});
  }
  return list;
}

// Writes the rest shape, both caches and what Blender should show; returns the JSON's path.
std::filesystem::path write_case(const TemporaryFolder& folder, const AnimatedSkin& skin) {
  const ExportOptions z_axis{UpAxis::z, {}};
  AnimatedSkin rest = skin;
  rest.first_frame = 0;
  rest.frame_count = 1;
  rest.map_names.clear();
  rest.frame = [positions = skin.rest](int) { return SkinFrame{positions, {}}; };
  write_obj_sequence(folder / "rest.obj", rest, z_axis);
  write_pc2(folder / "a.pc2", skin, z_axis);
  write_mdd(folder / "a.mdd", skin, z_axis);
  nlohmann::json frames;
  for (const int index : {0, 3, skin.frame_count - 1})
    frames[std::to_string(skin.first_frame + index)] = to_json(skin.frame(index).positions);
  const nlohmann::json expected = {{"obj", (folder / "rest.0000.obj").string()},
                                   {"pc2", (folder / "a.pc2").string()},
                                   {"mdd", (folder / "a.mdd").string()},
                                   {"first_frame", skin.first_frame},
                                   {"rest", to_json(skin.rest)},
                                   {"frames", frames}};
  write_file(folder / "case.json", std::string_view(expected.dump()));
  return folder / "case.json";
}

// One start of Blender for all cases: starting it is what takes the time.
TEST(BlenderMeshCache, PlaysCachesFromAnyFirstFrame) {
  if (std::system("command -v blender >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "blender is not on the PATH";
  const TemporaryFolder from_1, from_1001, from_negative, logs;
  const std::filesystem::path cases[] = {write_case(from_1, moving_strips(1, 8)),
                                         write_case(from_1001, moving_strips(1001, 8)),
                                         write_case(from_negative, moving_strips(-5, 8))};
  const std::filesystem::path script = source_folder() / "tests/blender/mesh_cache_test.py";
  const std::filesystem::path log = logs / "log.txt";
  std::string command = "timeout 300 blender -b --factory-startup --python-exit-code 3 --python '" +
                        script.string() + "' --";
  for (const std::filesystem::path& json : cases) command += " '" + json.string() + "'";
  command += " >'" + log.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  const std::string text(as_text(read_file(log)));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status << "\n" << text;
  for (const char* line : {"\nframes from 1 agree\n", "\nframes from 1001 agree\n",
                           "\nframes from -5 agree\n", "\nOK\n"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

}  // namespace
}  // namespace supple::test
