#include "scenes/scenes.h"

namespace supple::scenes {
namespace {

// The right end is turned once half round, then led along an arc of 120 degrees whose length is the
// bar's: back by the bar's length, and round the arc's centre.
constexpr const char* bar = R"({
  "name": "bar",
  "character": {"shape": {"type": "box", "size": [2, 0.5, 0.5], "centre": [0, 0.5, 0], "edge": 0.03125}},
  "body": {
    "type": "lattice",
    "cells": 32,
    "young": 10000,
    "poisson": 0.45,
    "gravity": [0, 0, 0],
    "fixed": [
      {"select": {"plane": {"point": [-1, 0, 0], "normal": [-1, 0, 0]}}},
      {
        "select": {"plane": {"point": [1, 0, 0], "normal": [1, 0, 0]}},
        "motion": [
          {"rotate": {"axis": [1, 0, 0], "angle": 180, "about": [0, 0.5, 0]}, "keys": [[0, 0], [1.5, 1]]},
          {"translate": [-2, 0, 0], "keys": [[1.5, 0], [3, 1]]},
          {"rotate": {"axis": [0, 0, 1], "angle": 120, "about": [-1, 1.455, 0]}, "keys": [[1.5, 0], [3, 1]]}
        ]
      }
    ]
  },
  "frames": {"first": 1, "last": 84, "rate": 24},
  "output": {"files": ["bar.supple"]}
}
)";

constexpr const char* jelly = R"({
  "name": "jelly",
  "character": {"shape": {"type": "box", "size": [0.4, 0.4, 0.4], "centre": [0, 0.2, 0], "edge": 0.0125}},
  "body": {
    "type": "lattice",
    "cells": 16,
    "young": 40000,
    "poisson": 0.45,
    "density": 1000,
    "dynamic": true,
    "substeps": 2,
    "start": "equilibrium",
    "fixed": [
      {
        "select": {"plane": {"point": [0, 0, 0], "normal": [0, -1, 0]}},
        "motion": [
          {
            "translate": [0.07, 0, 0.02],
            "rotate": {"axis": [0, 1, 0], "angle": 8},
            "keys": [[0.25, 0], [0.5, 1], [0.9, -1], [1.3, 0]]
          }
        ]
      }
    ]
  },
  "frames": {"first": 1, "last": 96, "rate": 24},
  "output": {"files": ["jelly.supple"]}
}
)";

}  // namespace

const std::vector<ExampleScene>& all() {
  static const std::vector<ExampleScene> scenes = {
      {"bar", "a soft bar, twisted half round and bent, always in equilibrium", bar},
      {"jelly", "a cube of jelly on a plate that is shaken: it wobbles and settles", jelly}};
  return scenes;
}

}  // namespace supple::scenes
