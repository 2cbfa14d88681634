#include "actors/props.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "actors/swaying.h"
#include "modelling/actor.h"
#include "modelling/surface.h"
#include "supple/mesh/primitives.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double pi = std::numbers::pi;

// A sheet of (columns + 1) by (rows + 1) points at place(u, v), u and v from 0 to 1.
template <class Place>
TriangleMesh sheet(int columns, int rows, const Place& place) {
  TriangleMesh mesh;
  for (int r = 0; r <= rows; ++r)
    for (int c = 0; c <= columns; ++c)
      mesh.positions.push_back(
          Vec3d(place(static_cast<double>(c) / columns, static_cast<double>(r) / rows))
              .template cast<float>());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const int a = r * (columns + 1) + c, b = a + columns + 1;
      mesh.triangles.emplace_back(a, a + 1, b + 1);
      mesh.triangles.emplace_back(a, b + 1, b);
    }
  return mesh;
}

// Adds a mesh of one colour as a part.
void add_part(const std::string& name, const TriangleMesh& mesh, const Vec3d& colour,
              Character& character) {
  if (character.attributes.empty()) character.attributes.push_back({"COLOR_0", 3, {}});
  Part part;
  part.name = name;
  part.vertices = {static_cast<int32_t>(character.skin.positions.size()),
                   static_cast<int32_t>(mesh.positions.size())};
  part.triangles = {static_cast<int32_t>(character.skin.triangles.size()),
                    static_cast<int32_t>(mesh.triangles.size())};
  for (const Vec3f& p : mesh.positions) {
    character.skin.positions.push_back(p);
    for (int k = 0; k < 3; ++k)
      character.attributes[0].values.push_back(static_cast<float>(colour[k]));
  }
  for (const Vec3i& t : mesh.triangles)
    character.skin.triangles.push_back(t + Vec3i::Constant(part.vertices.first));
  character.parts.push_back(std::move(part));
}

Sculpture rabbit_sculpture() {
  Sculpture s;
  s.add(ellipsoid({0, 0.15, -0.04}, {0.125, 0.14, 0.17}), 0);
  s.add(ellipsoid({0, 0.19, 0.07}, {0.09, 0.13, 0.09}), 0.06);
  s.add(ball({0, 0.335, 0.10}, 0.085), 0.04);
  s.add(ellipsoid({0, 0.315, 0.165}, {0.045, 0.038, 0.045}), 0.03);
  // Long ears, thin and a little apart.
  const Mat3d lean = turn(-14, Vec3d::UnitZ()) * turn(-12, Vec3d::UnitX());
  s.add(ellipsoid({0.068, 0.50, 0.055}, {0.034, 0.135, 0.014}, lean), 0.02, true);
  s.add(ellipsoid({0.085, 0.055, 0.06}, {0.04, 0.05, 0.11}), 0.03, true);
  s.add(round_cone({0.045, 0.17, 0.13}, 0.032, {0.045, 0.03, 0.15}, 0.027), 0.02, true);
  s.add(ball({0, 0.13, -0.215}, 0.045), 0.015);
  s.carve(half_space({0, 0.01, 0}, {0, 1, 0}), 0.004);
  s.set_ground_colour(screen_colour(0.78, 0.70, 0.62));
  s.paint(ball({0, 0.13, -0.235}, 0.05), screen_colour(0.95, 0.93, 0.9), 0.02);
  s.paint(ellipsoid({0.072, 0.51, 0.09}, {0.02, 0.10, 0.03}, lean), screen_colour(0.9, 0.6, 0.6),
          0.015, 1, true);
  s.paint(ball({0.047, 0.36, 0.17}, 0.016), screen_colour(0.1, 0.08, 0.08), 0.004, 1, true);
  return s;
}

Sculpture dragon_sculpture() {
  Sculpture s;
  s.add(ellipsoid({0, 0.30, 0}, {0.11, 0.12, 0.20}), 0);
  // Neck and head.
  s.add(round_cone({0, 0.36, 0.14}, 0.07, {0, 0.50, 0.24}, 0.05), 0.05);
  s.add(round_cone({0, 0.50, 0.24}, 0.05, {0, 0.57, 0.32}, 0.045), 0.03);
  s.add(ellipsoid({0, 0.58, 0.37}, {0.055, 0.05, 0.075}), 0.03);
  s.add(ellipsoid({0, 0.56, 0.445}, {0.035, 0.028, 0.05}), 0.02);
  s.add(round_cone({0.03, 0.62, 0.35}, 0.014, {0.05, 0.68, 0.30}, 0.006), 0.012, true);
  // A tail that tapers off.
  const Vec3d tail[] = {{0, 0.29, -0.16}, {0, 0.22, -0.30}, {0, 0.17, -0.44},
                        {0, 0.16, -0.57}, {0, 0.19, -0.68}, {0, 0.24, -0.76}};
  for (int i = 0; i < 5; ++i)
    s.add(round_cone(tail[i], 0.075 - 0.0135 * i, tail[i + 1], 0.075 - 0.0135 * (i + 1)), 0.03);
  // Legs.
  for (const double z : {0.11, -0.11}) {
    s.add(round_cone({0.08, 0.25, z}, 0.055, {0.11, 0.13, z + 0.02}, 0.035), 0.04, true);
    s.add(round_cone({0.11, 0.13, z + 0.02}, 0.033, {0.11, 0.03, z}, 0.03), 0.02, true);
    s.add(ellipsoid({0.11, 0.02, z + 0.025}, {0.035, 0.022, 0.05}), 0.015, true);
  }
  s.set_ground_colour(screen_colour(0.36, 0.58, 0.42));
  s.paint(ellipsoid({0, 0.24, 0.02}, {0.07, 0.10, 0.22}), screen_colour(0.85, 0.80, 0.55), 0.04);
  s.paint(ball({0.042, 0.60, 0.40}, 0.013), screen_colour(0.1, 0.08, 0.05), 0.004, 1, true);
  return s;
}

// The membrane of a wing from the back (u = 0) to its tip (u = 1), front to rear along v.
Vec3d wing(double side, double u, double v) {
  const double span = 0.62 * u;
  const double front = 0.13 + 0.10 * std::sin(pi * u) - 0.20 * u * u;
  const double scallop = 0.035 * std::abs(std::sin(3 * pi * u));
  const double rear = -0.17 + 0.10 * u + scallop;
  const double lift = 0.385 + 0.26 * std::sin(0.5 * pi * u) - 0.10 * u * u;
  return {side * (0.05 + span), lift - 0.05 * v * (1 - v) * 4 * (1 - u),
          front + v * (rear - front)};
}

// A shirt worn by nobody: a torso with the beginnings of arms, cut open where they come out.
Sculpture shirt_sculpture() {
  Sculpture s;
  s.add(ellipsoid({0, 0.34, 0}, {0.245, 0.42, 0.145}), 0);
  s.add(round_cone({0.15, 0.60, 0}, 0.10, {0.42, 0.47, 0.02}, 0.085), 0.05, true);
  s.add(round_cone({0, 0.68, 0}, 0.09, {0, 0.90, 0.01}, 0.075), 0.05);
  s.set_ground_colour(screen_colour(0.25, 0.45, 0.75));
  return s;
}

bool is_of_shirt(const Vec3d& p) {
  const double down_sleeve =
      Vec3d(std::abs(p[0]) - 0.15, p[1] - 0.60, 0).dot(Vec3d(0.27, -0.13, 0).normalized());
  const bool is_hem = p[1] < 0.10;
  const bool is_cuff = down_sleeve > 0.21 && std::abs(p[0]) > 0.25;
  const bool is_neck = p[1] > 0.715 - 0.05 * (p[2] > 0 ? 1 : 0) && std::abs(p[0]) < 0.12;
  return !is_hem && !is_cuff && !is_neck;
}

}  // namespace

Character rabbit(int vertices) { return sculpted_prop("rabbit", rabbit_sculpture(), vertices); }

Character dragon(int vertices) {
  Character character = sculpted_prop("dragon", dragon_sculpture(), 3 * vertices / 4);
  const int columns = std::max(4, static_cast<int>(std::sqrt(vertices / 8.0 * 2)));
  for (const double side : {1.0, -1.0})
    add_part(side > 0 ? "left_wing" : "right_wing",
             sheet(columns, std::max(2, columns / 2),
                   [&](double u, double v) { return wing(side, u, v); }),
             screen_colour(0.80, 0.45, 0.30), character);
  return character;
}

Character letter(int vertices) {
  Sculpture s;
  // A rod bent round three quarters of a circle, open to +X.
  s.add(arc({0, 0.15, 0}, 0.115, 0.75 * pi, 0.035, turn(90, Vec3d::UnitZ())), 0);
  s.set_ground_colour(screen_colour(0.80, 0.35, 0.30));
  return sculpted_prop("letter", s, vertices);
}

Character shirt(int vertices) {
  const Sculpture sculpture = shirt_sculpture();
  const TriangleMesh whole =
      mesh_surface(sculpture, cell_for_vertices(sculpture, 3 * vertices / 2));
  TriangleMesh open;
  std::vector<int32_t> number(whole.positions.size(), -1);
  for (const Vec3i& t : whole.triangles) {
    Vec3d middle = Vec3d::Zero();
    for (int k = 0; k < 3; ++k)
      middle += whole.positions[static_cast<size_t>(t[k])].cast<double>() / 3;
    if (!is_of_shirt(middle)) continue;
    Vec3i kept;
    for (int k = 0; k < 3; ++k) {
      int32_t& n = number[static_cast<size_t>(t[k])];
      if (n < 0) {
        n = static_cast<int32_t>(open.positions.size());
        open.positions.push_back(whole.positions[static_cast<size_t>(t[k])]);
      }
      kept[k] = n;
    }
    open.triangles.push_back(kept);
  }
  Character character;
  character.name = "shirt";
  add_part("shirt", open, screen_colour(0.25, 0.45, 0.75), character);
  return character;
}

Character rope(int vertices) {
  TriangleMesh line;
  const double length = 1.5;
  for (int i = 0; i < vertices; ++i) {
    const double s = static_cast<double>(i) / (vertices - 1);
    line.positions.push_back(
        Vec3d(length * s, 1 + 0.06 * std::sin(4 * pi * s), 0.06 * std::cos(4 * pi * s) - 0.06)
            .cast<float>());
    if (i > 0) line.triangles.emplace_back(i - 1, i, i);
  }
  Character character;
  character.name = "rope";
  add_part("rope", line, screen_colour(0.75, 0.62, 0.40), character);
  return character;
}

Character blocks(int vertices) {
  const Vec3d size(0.24, 0.12, 0.24);
  // As many squares as vertices, on three blocks' sides.
  const double edge = std::sqrt(3 * 2 * (2 * 0.24 * 0.12 + 0.24 * 0.24) / std::max(vertices, 100));
  Character character;
  character.name = "blocks";
  for (const double cavity : {0.0, 0.12, 0.18}) {
    TriangleMesh block = box_surface(size, edge);
    if (cavity > 0) {
      // Turned inside out, as its inner side is outside the matter.
      const TriangleMesh inner = box_surface({cavity, 0.07, cavity}, edge);
      const auto first = static_cast<int32_t>(block.positions.size());
      block.positions.insert(block.positions.end(), inner.positions.begin(), inner.positions.end());
      for (const Vec3i& t : inner.triangles)
        block.triangles.emplace_back(first + t[0], first + t[2], first + t[1]);
    }
    const auto number = static_cast<float>(character.parts.size());
    for (Vec3f& p : block.positions) p += Vec3f(0.4f * (number - 1), 0.06f, 0);
    add_part(fmt::format("block{}", character.parts.size()), block,
             screen_colour(0.85, 0.75 - 0.2 * static_cast<double>(number), 0.35), character);
  }
  return character;
}

namespace {

// Each stands fast on the ground, under a load of 7.2 kg [Kim 2011, fig. 8].
constexpr const char* loaded = R"({
  "type": "tets", "size": 1.04, "young": 30000, "damping": 12, "tets": {"elements": 2500},
  "fixed": [{"select": {"plane": {"point": [0, 0.002, 0], "normal": [0, -1, 0]}}}],
  "contact": {"colliders": [
    {"type": "box", "centre": [-0.4, 0.136, 0], "size": [0.2, 0.03, 0.2], "free": "first",
     "density": 6000, "friction": 0.8},
    {"type": "box", "centre": [0, 0.136, 0], "size": [0.2, 0.03, 0.2], "free": "second",
     "density": 6000, "friction": 0.8},
    {"type": "box", "centre": [0.4, 0.136, 0], "size": [0.2, 0.03, 0.2], "free": "third",
     "density": 6000, "friction": 0.8}]}
})";

// Hops once, so that its ears swing.
constexpr const char* hop = R"({
  "type": "voxels", "cells": 10, "voxels": {"levels": 3}, "young": 60000, "substeps": 2,
  "fixed": [{
    "select": {"box": {"min": [-0.2, 0, -0.3], "max": [0.2, 0.2, 0.3]}},
    "motion": [{"translate": [0, 0.2, 0], "keys": [[0.3, 0], [0.55, 1], [0.8, 0]]},
               {"rotate": {"axis": [1, 0, 0], "angle": 12, "about": [0, 0, 0]},
                "keys": [[0.3, 0], [0.45, -1], [0.8, 0.6], [1, 0]]}]
  }]
})";

// The same rabbit lies down on the ground.
constexpr const char* tired =
    R"({"type": "voxels", "cells": 8, "voxels": {"levels": 3}, "substeps": 2})";

constexpr const char* flight = R"({
  "type": "voxels", "cells": 14, "voxels": {"levels": 3, "sheets": 0.3}, "young": 400000, "substeps": 2,
  "fixed": [{
    "select": {"box": {"min": [-0.13, 0.2, -0.15], "max": [0.13, 0.45, 0.15]}},
    "motion": [{"translate": [0, 0.25, 0],
                "keys": [[0, 0], [0.4, 1], [0.8, 0], [1.2, 1], [1.6, 0], [2, 1], [2.4, 0]]}]
  }]
})";

// All of it in one cell, held at its back.
constexpr const char* nod = R"({
  "type": "voxels", "cells": 1, "voxels": {"levels": 5}, "young": 30000, "substeps": 2,
  "fixed": [{"skin": true, "select": {"box": {"min": [-0.2, -0.1, -0.1], "max": [-0.09, 0.4, 0.1]}}}]
})";

// Hung up by its shoulders, and pulled about.
constexpr const char* hung = R"({
  "type": "voxels", "cells": 12, "voxels": {"levels": 2}, "young": 30000, "density": 300, "substeps": 2,
  "fixed": [{
    "skin": true,
    "select": {"box": {"min": [-0.2, 0.66, -0.2], "max": [0.2, 0.8, 0.2]}},
    "motion": [{"translate": [0.15, 0, 0], "keys": [[0.2, 0], [0.5, 1], [0.9, -1], [1.2, 0]]}]
  }]
})";

// Held at one end, it falls over a beam.
constexpr const char* swing = R"({
  "type": "voxels", "cells": 24, "voxels": {"levels": 2}, "young": 20000, "density": 500, "substeps": 4,
  "fixed": [{"skin": true, "select": {"sphere": {"centre": [0, 1, 0], "radius": 0.02}}}],
  "contact": {"colliders": [{"type": "box", "centre": [0.5, 0.6, 0], "size": [0.12, 0.12, 0.8],
                              "friction": 0.3}]}
})";

std::vector<Prop> still_props() {
  return {
      {"rabbit",
       "a rabbit with long ears, for few cells",
       ".glb",
       {{"rabbit", "it hops, and its ears swing", 2, hop},
        {"tired", "it is too soft to sit up", 2, tired}},
       8564,
       rabbit},
      {"dragon",
       "a dragon: a volume with a tail, and wings that are sheets",
       ".glb",
       {{"dragon", "it flies up and down", 2.5, flight}},
       21507,
       dragon},
      {"letter",
       "the letter C, in a single cell",
       ".glb",
       {{"letter", "its ends sink", 1.5, nod}},
       2151,
       letter},
      {"shirt",
       "a shirt: an open surface without thickness",
       ".glb",
       {{"shirt", "it hangs by its shoulders and is pulled about", 2.5, hung}},
       6000,
       shirt},
      {"rope",
       "a rope: one line",
       ".obj",
       {{"rope", "it swings down and falls over a beam", 3, swing}},
       151,
       rope},
      {"blocks",
       "three blocks: whole, with a cavity, and with a larger one",
       ".glb",
       {{"blocks", "the less matter in them, the more they sink under the same load", 4, loaded}},
       3000,
       blocks}};
}

}  // namespace

const std::vector<Prop>& props() {
  static const std::vector<Prop> all = [] {
    std::vector<Prop> everything = still_props();
    for (Prop& prop : swaying_props()) everything.push_back(std::move(prop));
    return everything;
  }();
  return all;
}

}  // namespace supple::actors
