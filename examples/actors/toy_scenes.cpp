#include "actors/toy_scenes.h"

#include <algorithm>
#include <map>

#include "actors/toys.h"
#include "supple/io/scene_file.h"
#include "supple/sim/objects.h"
#include "supple/sim/shape.h"

namespace supple::actors {
namespace {

// Every step is 5 ms: frames of 1/25 s have eight. Dials (ω, α, β, s) are those of [Diziol 2011,
// table 1]; wide regions hold up the toys' weight.

constexpr const char* drop = R"({
  "name": "duck",
  "character": {"file": "duck.glb"},
  "body": {"type": "surface"},
  "frames": {"first": 1, "last": 50, "rate": 25},
  "output": {"files": ["duck.supple"]}
}
)";

constexpr const char* creatures = R"({
  "name": "creatures",
  "objects": [
    {"file": "gnarl.glb", "at": [0, 0.35, -0.3], "turn": {"axis": [1, 0, 0], "angle": 80}},
    {"file": "gnarl.glb", "at": [0.1, 1, 0.1], "turn": {"axis": [0.6, 0.6, 0.5], "angle": 110}}
  ],
  "body": {
    "type": "surface",
    "surface": {"region_width": 3, "support": 0.2, "stiffness": 0.9, "spread": 0.1, "inner": 0.1},
    "contact": {"colliders": [{"type": "plane", "friction": 0.6}]}
  },
  "frames": {"first": 1, "last": 100, "rate": 25},
  "output": {"files": ["creatures.supple"]}
}
)";

constexpr const char* ducks = R"({
  "name": "ducks",
  "objects": [
    {"file": "duck.glb", "at": [-0.2, 0.2, -0.2], "copies": [2, 5, 2], "apart": [0.4, 0.7, 0.4], "tumble": true},
    {"file": "torus.glb", "at": [-0.2, 0.6, -0.2], "copies": [2, 5, 2], "apart": [0.4, 0.7, 0.4], "tumble": true}
  ],
  "body": {
    "type": "surface",
    "surface": {"region_width": 2, "stiffness": 1, "spread": 0.2, "inner": 0.1, "damping": 0.4},
    "contact": {"colliders": [{"type": "plane", "friction": 0.6}]}
  },
  "frames": {"first": 1, "last": 200, "rate": 25},
  "output": {"files": ["ducks.supple"]}
}
)";

constexpr const char* balls = R"({
  "name": "balls",
  "objects": [
    {"file": "ball.glb", "scale": 0.85, "at": [-0.095, 0.25, -0.095], "copies": [2, 5, 2], "apart": [0.19, 0.19, 0.19], "tumble": true}
  ],
  "body": {
    "type": "surface",
    "surface": {"region_width": 2, "stiffness": 1, "spread": 0.5, "inner": 0.1, "damping": 0.4},
    "contact": {"colliders": [{"type": "plane", "friction": 0.5}, {"type": "mesh", "file": "glass.glb", "friction": 0.2}]}
  },
  "frames": {"first": 1, "last": 150, "rate": 25},
  "output": {"files": ["balls.supple"]}
}
)";

constexpr const char* twirl = R"({
  "name": "twirl",
  "objects": [
    {"file": "bar.glb", "at": [-0.35, 0, 0]},
    {"file": "bar.glb", "at": [0.35, 0, 0], "keep_volume": false}
  ],
  "body": {
    "type": "surface",
    "gravity": [0, 0, 0],
    "surface": {"region_width": 4, "support": 0, "stiffness": 1, "spread": 0.6, "inner": 0.1},
    "contact": {"self": false},
    "fixed": [
      {"select": {"plane": {"point": [0, 0.01, 0], "normal": [0, -1, 0]}}},
      {
        "select": {"box": {"min": [-0.5, 0.99, -0.2], "max": [-0.2, 1.01, 0.2]}},
        "motion": [{"rotate": {"axis": [0, 1, 0], "angle": 200, "about": [-0.35, 0, 0]}, "keys": [[0, 0], [3, 1]]}]
      },
      {
        "select": {"box": {"min": [0.2, 0.99, -0.2], "max": [0.5, 1.01, 0.2]}},
        "motion": [{"rotate": {"axis": [0, 1, 0], "angle": 200, "about": [0.35, 0, 0]}, "keys": [[0, 0], [3, 1]]}]
      }
    ]
  },
  "frames": {"first": 1, "last": 100, "rate": 25},
  "output": {"files": ["twirl.supple"]}
}
)";

constexpr const char* press = R"({
  "name": "press",
  "objects": [
    {"file": "ball.glb", "at": [-0.54, 0, 0], "spread": 1, "inner": 0.1},
    {"file": "ball.glb", "at": [-0.18, 0, 0], "spread": 0, "inner": 0.1},
    {"file": "ball.glb", "at": [0.18, 0, 0], "spread": 0, "inner": 0},
    {"file": "ball.glb", "at": [0.54, 0, 0], "keep_volume": false}
  ],
  "body": {
    "type": "surface",
    "surface": {"region_width": 2, "support": 0.1, "stiffness": 1},
    "contact": {
      "colliders": [
        {"type": "plane", "friction": 0.5},
        {
          "type": "box", "centre": [0, 0.28, 0], "size": [1.6, 0.1, 0.5], "friction": 0.5,
          "motion": [{"translate": [0, -0.13, 0], "keys": [[0.2, 0], [1.2, 1], [2, 1], [2.6, 0]]}]
        }
      ]
    }
  },
  "frames": {"first": 1, "last": 90, "rate": 25},
  "output": {"files": ["press.supple"]}
}
)";

constexpr const char* recover = R"({
  "name": "recover",
  "objects": [
    {"file": "gnarl.glb", "at": [-0.6, 0, 0], "start": "random"},
    {"file": "gnarl.glb", "at": [0.6, 0, 0], "start": "flat"}
  ],
  "body": {"type": "surface", "gravity": [0, 0, 0], "surface": {"region_width": 3}, "contact": {"self": false}},
  "frames": {"first": 1, "last": 125, "rate": 25},
  "output": {"files": ["recover.supple"]}
}
)";

constexpr const char* cube = R"({
  "name": "cube",
  "objects": [
    {
      "shape": {"type": "box", "size": [1, 1, 1], "edge": 0.014286}, "at": [0, 1.2, 0],
      "turn": {"axis": [1, 0, 1], "angle": 35}, "region_width": 3
    }
  ],
  "body": {"type": "surface", "contact": {"colliders": [{"type": "plane", "friction": 0.5}]}},
  "frames": {"first": 1, "last": 75, "rate": 25},
  "output": {"files": ["cube.supple"]}
}
)";

}  // namespace

const std::vector<ToyScene>& toy_scenes() {
  static const std::vector<ToyScene> all = {
      {"duck", "a rubber duck falls on the floor", {{"duck"}}, drop},
      {"creatures", "two horned beasts of 16,000 vertices fall in a heap", {{"gnarl"}}, creatures},
      {"ducks", "twenty ducks and twenty rings fall in a heap", {{"duck"}, {"torus"}}, ducks},
      {"balls", "twenty balls fall into a glass", {{"ball"}, {"glass"}}, balls},
      {"twirl", "a bar is twirled, with and without its volume kept", {{"bar"}}, twirl},
      {"press",
       "four balls under a plate, whose volume is kept in four ways",
       {{"ball", 1562}},
       press},
      {"recover",
       "two beasts get their shape back: one torn to bits, one pressed flat",
       {{"gnarl"}},
       recover},
      {"cube", "a cube of 30,000 particles falls on a corner", {}, cube}};
  return all;
}

StagedToys stage_toys(const std::string& name) {
  const std::vector<ToyScene>& all = toy_scenes();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ToyScene& scene) { return scene.name == name; });
  StagedToys staged;
  staged.scene = parse_scene(as_bytes(found->text), name);
  std::map<std::string, Character> by_file;
  for (const ToyModel& model : found->models) {
    const Toy& toy = *find_toy(model.toy);
    by_file[model.toy + ".glb"] = toy.make(model.vertices > 0 ? model.vertices : toy.vertices);
  }
  std::vector<ObjectModel> models;
  for (const ObjectSettings& object : staged.scene.objects)
    models.push_back(
        {object.file.empty() ? character_from_shape(object.shape, name) : by_file.at(object.file),
         {}});
  for (ColliderSettings& collider : staged.scene.body.contact.colliders)
    if (!collider.file.empty())
      collider.mesh = std::make_shared<TriangleMesh>(by_file.at(collider.file).skin);
  staged.character = std::make_shared<Character>(pack_objects(staged.scene, models, name));
  return staged;
}

}  // namespace supple::actors
