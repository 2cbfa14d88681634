#include "viewer/facts.h"

namespace supple::viewer {

Json basic_facts(const std::string& title, const std::filesystem::path& file, const char* kind) {
  const std::filesystem::path name =
      file.has_filename() ? file.filename() : file.parent_path().filename();
  return {{"title", title}, {"file", name.string()}, {"kind", kind},    {"clip", ""},
          {"body", ""},     {"maps", Json::array()}, {"error", nullptr}};
}

void add_shape_facts(Json& facts, const TriangleMesh& skin, const std::vector<Part>& parts,
                     const std::vector<Joint>& joints) {
  facts["vertices"] = skin.positions.size();
  facts["triangles"] = skin.triangles.size();
  facts["parts"] = Json::array();
  for (const Part& part : parts)
    facts["parts"].push_back({{"name", part.name},
                              {"material", part.material},
                              {"vertices", {part.vertices.first, part.vertices.count}},
                              {"triangles", {part.triangles.first, part.triangles.count}}});
  facts["joints"] = Json::array();
  for (const Joint& joint : joints)
    facts["joints"].push_back(
        {{"name", joint.name}, {"parent", joint.parent}, {"bone", joint.is_bone}});
}

Json frames_json(int first, int last, double rate) {
  return {{"first", first}, {"last", last}, {"rate", rate}};
}

}  // namespace supple::viewer
