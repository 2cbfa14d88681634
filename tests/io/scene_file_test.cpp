// Scene files: every field there and back, and every mistake refused by name.
#include "supple/io/scene_file.h"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "support/test_support.h"

namespace supple {
namespace {

Scene parse(const std::string& text) { return parse_scene(as_bytes(text), "s.json"); }

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "was read";
}

// A body in which no field has its default.
BodySettings full_body() {
  BodySettings b;
  b.type = "lattice";
  b.budget = 5000;
  b.cells = 7;
  b.spacing = 0.03;
  b.size = 1.5;
  b.material = MaterialPreset::fat;
  b.young = 2e5;
  b.poisson = 0.3;
  b.density = 900;
  SelectSettings select;
  select.box = BoxSelection{{-1, -2, -3}, {1, 2, 3}};
  select.sphere = SphereSelection{{1, 0, 0}, 2};
  select.plane = PlaneSelection{{0, 1, 0}, {0, 0, 1}};
  b.materials.resize(2);
  b.materials[0].select = select;
  b.materials[0].young = 1e3;
  b.materials[0].poisson = 0.2;
  b.materials[0].density = 800;
  b.materials[1].bones = {"hip", "knee"};
  b.materials[1].attribute = "_FAT";
  b.materials[1].depth = DepthSettings{0.25, 0.75};
  b.materials[1].material = MaterialPreset::fat;
  b.materials[1].poisson = 0.1;
  b.keep_volume = false;
  b.volume = true;
  b.gravity = {{0, 0, -1.62}, false, WeightCarrier::rest_shape};
  b.damping = 3;
  BoneSettings hip, knee;
  hip.joint = "hip";
  hip.hold = BoneHold::sliding;
  hip.thickness = 0.4;
  hip.stiffness = 7;
  knee.joint = "knee";
  knee.file = "knee.obj";
  b.attach = {BoneHold::hard, 11, 0.5, 2, {hip, knee}};
  b.flesh = {"_FLESH", {"spine"}, {select}, 0.2};
  b.dynamic = true;
  b.substeps = 3;
  b.start = StartState::equilibrium;
  b.velocity = {1, 2, 3};
  b.spin = {90, 0, 0};
  const ScriptSettings script = {
      {1, 0, 0}, {{0, 1, 0}, 30, {0, 0, 2}}, {{0, 0}, {2, 1}}, TimeUnit::frames, Ramp::linear};
  ColliderSettings collider;
  collider.type = ColliderType::mesh;
  collider.file = "rock.obj";
  collider.centre = {1, 1, 1};
  collider.normal = {1, 0, 0};
  collider.size = {2, 2, 2};
  collider.radius = 0.3;
  collider.length = 0.7;
  collider.joint = "hand";
  collider.motion = {script};
  collider.friction = 0.5;
  collider.thickness = 0.01;
  collider.free = "crate";
  collider.density = 700;
  b.contact = {false, 9, 0.4, 2, false, true, {collider}};
  b.fixed = {{select, {script, script}, true}};
  b.pulled = {{select, 250, {script}, true}};
  b.pokes = {{{1, 2, 3}, 0.2, {4, 5, 6}, 1, 2, TimeUnit::frames}};
  b.voxels = {5, VoxelLaw::bending, VoxelFill::half, 0.25, true, true};
  b.lattice = {LatticeSteps::tr_bdf2, 0.03, 0.8};
  b.tets.elements = 500;
  b.tets.cage = TetCageMethod::delaunay;
  b.tets.file = "cage.mesh";
  b.tets.law = Law::neo_hookean;
  b.tets.lower = 0.8;
  b.tets.upper = 1.5;
  b.tets.volume = 3;
  b.tets.step = 2e-4;
  b.tets.deepest_only = true;
  b.tets.dynamics = TetDynamics::implicit_steps;
  b.tets.integrator = StepMethod::backward_euler;
  b.tets.stiffness_damping = 0.02;
  b.tets.mass_damping = 0.7;
  b.proxies = {{select, {"hip"}, "_PROXY", true, 50}};
  AdjustSettings& adjust = b.adjust;
  adjust.frequency = 0.5;
  adjust.amplitude = 2;
  adjust.sag = 0.25;
  adjust.half_life = 1.5;
  adjust.inertia = 0.7;
  adjust.stiffness = 2;
  adjust.weight = 3;
  adjust.damping_factor = 4;
  adjust.regions = {{select, {"knee"}, "_CALM", 2, 0.5, 3, 4}};
  adjust.keys = {{0, 1, 1, 1, 1}, {2, 1, 0.5, 1, 1}};
  adjust.unit = TimeUnit::frames;
  adjust.damping = AdjustDamping::moving;
  adjust.derivatives = AdjustDerivatives::five_point;
  b.skeleton.mode = SkeletonMode::two_way;
  b.skeleton.others = JointType::fixed;
  b.skeleton.joints = {{"elbow", JointType::hinge, {1, 0, 0}, {0, 1, 0}, {{-10, 20}}, 3, 0.5}};
  ControlSettings control;
  control.type = ControlType::direct;
  control.from = 1;
  control.to = 2;
  control.joints = {"elbow"};
  control.keys = {{0, 10}};
  control.bone = "hand";
  control.point = {1, 2, 3};
  control.motion = {script};
  control.turns = true;
  control.frequency = 5;
  control.torque = true;
  control.stiffness = 2;
  control.damping = 0.1;
  b.skeleton.control = {control};
  b.skeleton.density = 1800;
  b.skeleton.shift = {0, 1, 0};
  b.skeleton.turn = {{0, 1, 0}, 30, {0, 0, 2}};
  b.surface = {5,    0.5,  0.2, 0.4, 0.7,   false, 0.3, 0.4,  0.05,      0.2,
               1e-3, 0.01, 2,   0.5, 0.002, 0.45,  0.2, 0.25, "fine.obj"};
  b.embedding = SkinEmbedding::smooth;
  b.solver = {9,
              1e-4,
              1e-5,
              77,
              2.5,
              SolverMethod::v_cycle,
              SolverDifferential::zhu,
              Quadrature::one_point};
  return b;
}

// A scene in which no field has its default.
Scene full_scene() {
  Scene scene;
  scene.name = "Größe";
  CharacterSettings& c = scene.character;
  c.file = "a/b.glb";
  c.clip = "walk";
  c.scale = 0.01;
  c.skinning = SkinningMethod::dual_quaternion;
  c.motion = {"m.bvh", "take", {{"Hips", "hip"}, {"odd \"name\"\n", "x"}}, 0.0254};
  c.pose_space = {{{"elbow", "wrist"}, 33.3, {{{{0, 0, 0.6, 0.8}, {1, 0, 0, 0}}, "bulge"}, {}}}};
  c.shape = {ShapeType::tube, {1, 2, 3}, {4, 5, 6}, 0.2, 2, 0.1, 45, 0.01};
  ObjectSettings object;
  object.file = "duck.obj";
  object.shape = c.shape;
  object.detail = "fine.obj";
  object.scale = 2;
  object.turn = {{0, 1, 0}, 30, {1, 0, 0}};
  object.at = {1, 2, 3};
  object.copies = {2, 3, 4};
  object.apart = {0.5, 0.6, 0.7};
  object.tumble = true;
  object.velocity = {1, 0, 2};
  object.spin = {0, 90, 0};
  object.start = ObjectStart::flat;
  object.density = 500;
  object.region_width = 4;
  object.stiffness = 0.7;
  object.damping = 0.3;
  object.support = 0.6;
  object.keep_volume = false;
  object.spread = 0.9;
  object.inner = 0.8;
  object.friction = 0.1;
  scene.objects = {object};
  scene.body = full_body();
  scene.frames = {1001, 1100, 29.97, -0.5, 12};
  scene.output = {{"x.supple", "objs/"}, 3};
  return scene;
}

TEST(SceneFile, EveryFieldRoundTrips) {
  for (const Scene& scene : {full_scene(), parse(R"({"character": "x.glb"})")}) {
    const Json json = scene_to_json(scene);
    EXPECT_EQ(scene_to_json(parse(json.dump())), json);
  }
  const Scene read = parse(scene_to_json(full_scene()).dump(2));
  EXPECT_EQ(read.name, "Größe");
  EXPECT_EQ(read.character.skinning, SkinningMethod::dual_quaternion);
  EXPECT_EQ(read.character.motion.joint_map, full_scene().character.motion.joint_map);
  EXPECT_EQ(read.character.pose_space[0].samples[0].rotations[0][2], 0.6);
  EXPECT_EQ(read.frames.last, 1100);
  EXPECT_EQ(read.frames.rate, 29.97);
  EXPECT_EQ(read.output.files, full_scene().output.files);
  EXPECT_EQ(read.output.checkpoint_every, 3);
}

TEST(SceneFile, FullSceneLeavesNoDefault) {
  // Keeps the test above honest when fields are added.
  const Json usual = scene_to_json(Scene{}), full = scene_to_json(full_scene());
  const std::function<void(const Json&, const Json&, const std::string&)> compare =
      [&](const Json& a, const Json& b, const std::string& path) {
        for (const auto& [key, value] : b.items()) {
          if (value.is_object() && a.contains(key) && !a[key].empty()) {
            compare(a[key], value, path + "/" + key);
          } else {
            EXPECT_TRUE(!a.contains(key) || a[key] != value) << path << "/" << key;
          }
        }
      };
  compare(usual, full, "");
}

TEST(SceneFile, ShortFormsStandForTheirMainField) {
  const Scene scene = parse(R"({"$schema": "x", "character": "x.glb", "body": "skinning"})");
  EXPECT_EQ(scene.character.file, "x.glb");
  EXPECT_EQ(scene.body.type, "skinning");
  EXPECT_EQ(scene.frames.last, FrameSettings::automatic);
  EXPECT_EQ(
      scene_to_json(scene),
      scene_to_json(parse(R"({"character": {"file": "x.glb"}, "body": {"type": "skinning"}})")));
}

TEST(SceneFile, MistakesAreNamed) {
  const auto with = [](const std::string& more) {
    return refusal(R"({"character": "x.glb", )" + more + "}");
  };
  EXPECT_EQ(with(R"("frame": {})"), "s.json: frame: unknown field; did you mean 'frames'?");
  EXPECT_EQ(with(R"("frames": {"frist": 1})"),
            "s.json: frames.frist: unknown field; did you mean 'first'?");
  EXPECT_EQ(with(R"("frames": {"$schema": "x"})"),
            "s.json: frames.$schema: unknown field; there are first, last, rate, start, preroll");
  EXPECT_EQ(
      with(R"("zebra": 1)"),
      "s.json: zebra: unknown field; there are name, character, objects, body, frames, output");
  EXPECT_EQ(
      with(R"("body": "skining")"),
      "s.json: body.type: 'skining' is not one of automatic, skinning, lattice, voxels, tets, "
      "surface; did you mean "
      "'skinning'?");
  EXPECT_EQ(with(R"("body": {"gravity": [0, -9.81]})"),
            "s.json: body.gravity.acceleration: must have 3 numbers, found 2");
  EXPECT_EQ(with(R"("body": {"gravity": [0, "g", 0]})"),
            "s.json: body.gravity.acceleration[1]: must be a number, found \"g\"");
  EXPECT_EQ(with(R"("body": {"dynamic": 1})"),
            "s.json: body.dynamic: must be true or false, found 1");
  EXPECT_EQ(with(R"("body": {"poisson": 0.5})"),
            "s.json: body.poisson: 0.5 is not allowed (0 to 0.495)");
  EXPECT_EQ(with(R"("body": {"materials": [{"young": 0}]})"),
            "s.json: body.materials[0].young: 0 is not allowed (0.001 to 1000000000000)");
  EXPECT_EQ(with(R"("body": {"fixed": [{"select": {"boks": {}}}]})"),
            "s.json: body.fixed[0].select.boks: unknown field; did you mean 'box'?");
  EXPECT_EQ(with(R"("body": {"fixed": [{"select": {"box": 3}}]})"),
            "s.json: body.fixed[0].select.box: must be an object, found 3");
  EXPECT_EQ(refusal(R"({"character": {"shape": {"type": "box", "size": [1, 0, 1]}}})"),
            "s.json: character.shape.size[1]: must be more than 0");
  EXPECT_EQ(refusal(R"({"character": {"shape": {"type": "cube"}}})"),
            "s.json: character.shape.type: 'cube' is not one of none, box, sphere, tube; did you "
            "mean 'tube'?");
  EXPECT_EQ(refusal(R"({"character": {"file": "x", "skinning": "quaternion"}})")
                .find("s.json: character.skinning: 'quaternion' is not one of linear, dual_quat"),
            0u);
  EXPECT_EQ(with(R"("frames": [])"), "s.json: frames: must be an object, found a list");
  EXPECT_EQ(with(R"("frames": {"first": "one"})"),
            "s.json: frames.first: must be a whole number, found \"one\"");
  EXPECT_EQ(with(R"("frames": {"first": 1.5})"),
            "s.json: frames.first: must be a whole number, found 1.5");
  EXPECT_EQ(with(R"("frames": {"first": null})"),
            "s.json: frames.first: must be a whole number, found null");
  EXPECT_EQ(with(R"("frames": {"rate": true})"),
            "s.json: frames.rate: must be a number, found true");
  EXPECT_EQ(with(R"("name": 3)"), "s.json: name: must be a text, found 3");
  EXPECT_EQ(with(R"("output": {"files": "x"})"),
            "s.json: output.files: must be a list, found \"x\"");
  EXPECT_EQ(with(R"("output": {"files": ["x", 1]})"),
            "s.json: output.files[1]: must be a text, found 1");
  EXPECT_EQ(refusal(R"({"character": {"file": "x", "motion": {"joint_map": {"a": 1}}}})"),
            "s.json: character.motion.joint_map.a: must be a text, found 1");
  EXPECT_EQ(
      refusal(R"({"character": {"file": "x", "pose_space": [{"samples": [{"x": 1}]}]}})"),
      "s.json: character.pose_space[0].samples[0].x: unknown field; there are rotations, shape");
  EXPECT_EQ(refusal(R"({"character": {"file": "x", "pose_space": [{"samples":
                       [{"rotations": [[0, 0, "z", 1]]}]}]}})"),
            "s.json: character.pose_space[0].samples[0].rotations[0][2]: must be a number, found "
            "\"z\"");
}

TEST(SceneFile, RangesAreKept) {
  const auto with = [](const std::string& frames) {
    return refusal(R"({"character": "x.glb", "frames": )" + frames + "}");
  };
  for (const char* bad :
       {R"({"rate": -1})", R"({"rate": 10001})", R"({"preroll": -1})", R"({"preroll": 100001})",
        R"({"first": 1000000001})", R"({"last": -2147483647})"})
    EXPECT_NE(with(bad).find("is not allowed"), std::string::npos) << with(bad) << " for " << bad;
  EXPECT_EQ(with(R"({"first": -1000000000, "last": 1000000000, "rate": 10000})"), "was read");
  EXPECT_EQ(with(R"({"first": 3.0})"), "was read");
  EXPECT_NE(with(R"({"rate": 1e999})").find("s.json: "), std::string::npos);
  EXPECT_NE(with(R"({"rate": NaN})").find("s.json: line 1: is not valid JSON"), std::string::npos);
  EXPECT_EQ(refusal(R"({"character": {"file": "x", "scale": 0}})"),
            "s.json: character.scale: must be more than 0");
}

TEST(SceneFile, NothingUsefulIsRefused) {
  EXPECT_EQ(refusal(""), "s.json: line 1: is not valid JSON");
  EXPECT_EQ(refusal("{\n\"character\": \"x\",\n}"), "s.json: line 3: is not valid JSON");
  EXPECT_EQ(refusal("[]"), "s.json: must be an object, found a list");
  EXPECT_EQ(refusal("{}").find("s.json: character: is missing"), 0u);
  EXPECT_EQ(refusal(R"({"character": ""})").find("s.json: character: is missing"), 0u);
}

TEST(SceneFile, DeepAndLargeTextsNeitherCrashNorHang) {
  const std::clock_t begin = std::clock();  // of this process: others may be busy
  const std::string open(1000000, '['), close(1000000, ']');
  EXPECT_NE(refusal(open).find("nested"), std::string::npos);
  EXPECT_NE(refusal("{\"name\": " + open + close + "}").find("nested"), std::string::npos);
  std::string keys = "{";
  for (int i = 0; i < 300000; ++i) keys += fmt::format("\"{}\":0,", i);
  keys += "\"name\": \"x\"}";
  EXPECT_NE(refusal(keys).find("members"), std::string::npos);
  EXPECT_LT(std::clock() - begin, 3 * CLOCKS_PER_SEC);
  // Brackets inside texts do not count.
  EXPECT_EQ(parse("{\"character\": \"" + std::string(1000, '[') + "\\\"{\"}").character.file,
            std::string(1000, '[') + "\"{");
}

TEST(SceneFile, PathsAreRelativeToTheFile) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "scenes");
  const std::filesystem::path file = folder / "scenes/walk.json";
  write_file(file, R"({"character": {"file": "../a.glb", "motion": {"file": "/abs/m.bvh"}},
                       "output": {"files": ["out.supple", "objs/", "./x/../y.glb"]}})");
  const Scene scene = read_scene(file);
  EXPECT_EQ(scene.name, "walk");
  EXPECT_EQ(scene.character.file, folder / "a.glb");
  EXPECT_EQ(scene.character.motion.file, "/abs/m.bvh");
  EXPECT_EQ(scene.output.files,
            (std::vector<std::string>{folder / "scenes/out.supple", folder / "scenes/objs/",
                                      folder / "scenes/y.glb"}));
  EXPECT_THROW(read_scene(folder / "none.json"), Error);
}

// --- the schema ----------------------------------------------------------------------------------

// A value the schema allows.
Json example_of(const Json& schema) {
  if (schema.contains("anyOf")) return example_of(schema["anyOf"][1]);
  if (schema.contains("enum")) return schema["enum"].back();
  const std::string type = schema["type"];
  if (type == "string") return "text";
  if (type == "integer" || type == "number") return schema.value("maximum", 1.0);
  if (type == "boolean") return true;
  if (type == "array")
    return Json(
        std::vector<Json>(schema.value("minItems", size_t{1}), example_of(schema["items"])));
  Json object = Json::object();
  if (!schema.contains("properties")) return {{"any", "text"}};
  for (const auto& [key, value] : schema["properties"].items()) object[key] = example_of(value);
  return object;
}

// Calls `visit` with the place of every object in `schema` that lists its fields.
void for_each_object(const Json& schema, const std::string& place,
                     const std::function<void(const Json&, const std::string&)>& visit) {
  if (schema.contains("anyOf")) return for_each_object(schema["anyOf"][1], place, visit);
  if (schema["type"] == "array") return for_each_object(schema["items"], place + "/0", visit);
  if (schema["type"] != "object" || !schema.contains("properties")) return;
  visit(schema, place);
  for (const auto& [key, value] : schema["properties"].items())
    for_each_object(value, place + "/" + key, visit);
}

TEST(SceneSchema, ListsExactlyWhatTheParserAccepts) {
  const Json schema = scene_schema(), example = example_of(schema);
  EXPECT_EQ(refusal(example.dump()), "was read") << example.dump(1);
  int fields = 0;
  for_each_object(schema, "", [&](const Json& object, const std::string& place) {
    EXPECT_EQ(object["additionalProperties"], false) << place;
    for (const auto& [key, value] : object["properties"].items()) {
      ++fields;
      EXPECT_FALSE(value["description"].get<std::string>().empty()) << place << "/" << key;
      Json misspelt = example;
      Json& at = misspelt[Json::json_pointer(place)];
      at[key + "x"] = at[key];
      EXPECT_NE(refusal(misspelt.dump()).find(key + "x: unknown field"), std::string::npos)
          << place << "/" << key << ": " << refusal(misspelt.dump());
      if (key == "$schema") continue;
      Json wrong = example;
      wrong[Json::json_pointer(place)][key] = nullptr;
      EXPECT_NE(refusal(wrong.dump()), "was read") << place << "/" << key;
    }
  });
  EXPECT_GE(fields, 26);
  // What the writer writes is in the schema too.
  const std::function<void(const Json&, const Json&, const std::string&)> covered =
      [&](const Json& json, const Json& part, const std::string& path) {
        const Json& object = part.contains("anyOf") ? part["anyOf"][1] : part;
        if (json.is_array())
          for (const Json& entry : json) covered(entry, object["items"], path + "[]");
        if (!json.is_object() || !object.contains("properties")) return;
        for (const auto& [key, value] : json.items()) {
          ASSERT_TRUE(object["properties"].contains(key)) << path << "." << key;
          covered(value, object["properties"][key], path + "." + key);
        }
      };
  covered(scene_to_json(full_scene()), schema, "");
}

TEST(SceneSchema, LimitsAreThoseOfTheParser) {
  const Json schema = scene_schema(), example = example_of(schema);
  for_each_object(schema, "", [&](const Json& object, const std::string& place) {
    for (const auto& [key, value] : object["properties"].items())
      for (const char* limit : {"minimum", "maximum", "exclusiveMinimum"}) {
        if (!value.contains(limit)) continue;
        const double at = value[limit], out = limit[1] == 'a' ? at + 1 : at - 1;
        Json scene = example;
        Json& field = scene[Json::json_pointer(place)][key];
        field = at;
        EXPECT_EQ(refusal(scene.dump()) == "was read", limit[0] == 'm') << place << "/" << key;
        field = out;
        EXPECT_NE(refusal(scene.dump()), "was read") << place << "/" << key << " " << out;
      }
  });
}

TEST(SceneSchema, DocumentedSchemaIsCurrent) {
  const Bytes documented = read_file(test::source_folder() / "docs/scene.schema.json");
  EXPECT_EQ(as_text(documented), scene_schema().dump(2) + "\n")
      << "docs/scene.schema.json is not what scene_schema() says";
}

TEST(SceneFile, DamageIsRefused) {
  const std::string text = scene_to_json(full_scene()).dump(1);
  const ByteView view = as_bytes(text);
  test::expect_damage_is_refused(
      Bytes(view.begin(), view.end()), [](const Bytes& bytes) { parse_scene(bytes, "scene.json"); },
      3000, 3000);
}

}  // namespace
}  // namespace supple
