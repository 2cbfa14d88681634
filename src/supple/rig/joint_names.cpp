#include "supple/rig/joint_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace supple {
namespace {

using Words = std::vector<std::string_view>;

// Cuts a name at separators, at digits and where capitals start a word: "LHipJoint01_end" is
// L, Hip, Joint, 01, end.
std::vector<std::string> split_words(std::string_view name) {
  const auto lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::vector<std::string> words;
  bool fresh = true;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!lower(c) && !upper(c) && !digit(c)) {
      fresh = true;
      continue;
    }
    const char before = i > 0 ? name[i - 1] : ' ';
    const char after = i + 1 < name.size() ? name[i + 1] : ' ';
    const bool starts = (upper(c) && (lower(before) || (upper(before) && lower(after)))) ||
                        digit(c) != digit(before);
    if (fresh || starts || words.empty()) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    fresh = false;
  }
  return words;
}

// Words that name the rig, not the joint.
bool is_prefix(const std::string& word) {
  static const Words known{"mixamorig", "bip", "biped", "armature", "skeleton", "rig",
                           "def",       "org", "jnt",   "joint",    "bone"};
  return std::find(known.begin(), known.end(), word) != known.end();
}

// A body part: its names in order of preference, and whether it comes in pairs.
struct BodyPart {
  bool sided;
  JointKind kind;
  Words names;
};

// Parts with ambiguous names come after those that claim the plain ones: a "shoulder" is the upper
// arm only where nothing else is, and a collar bone only where it is not the upper arm.
const std::vector<BodyPart>& body_parts() {
  constexpr JointKind limb = JointKind::limb, trunk = JointKind::trunk;
  static const std::vector<BodyPart> parts{
      {false, trunk, {"hips", "pelvis", "hip", "root"}},
      {false, trunk, {"head"}},
      {true, limb, {"forearm", "lowerarm", "loarm", "elbow"}},
      {true, limb, {"hand", "wrist", "palm"}},
      {true, limb, {"upperarm", "uparm", "arm", "shldr", "shoulder"}},
      {true, trunk, {"clavicle", "collar", "collarbone", "shoulder"}},
      {true, limb, {"lowerleg", "loleg", "shin", "calf", "knee", "leg"}},
      {true, limb, {"upperleg", "upleg", "thigh", "hip", "leg"}},
      {true, trunk, {"foot", "ankle"}},
      {true, trunk, {"toe", "toebase", "toes", "ball"}},
  };
  return parts;
}

// Joints between hips and head come in chains of any length.
const std::vector<Words>& chains() {
  static const std::vector<Words> known{
      {"spine", "chest", "upperchest", "lowerback", "abdomen", "torso", "waist"},
      {"neck"},
  };
  return known;
}

bool contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The names of one skeleton, and which joints are spoken for.
struct Names {
  explicit Names(const Skeleton& skeleton) {
    for (const Joint& joint : skeleton.joints) {
      plain.push_back(plain_name(joint.name));
      used.push_back(joint.sheared.has_value());
    }
    for (const Side side : {Side::left, Side::right}) {
      name_limb(side, "leg",
                {{},
                 {},
                 {"upperleg", "lowerleg"},
                 {"upperleg", "lowerleg", "foot"},
                 {"upperleg", "lowerleg", "foot", "toe"}});
      name_limb(side, "arm",
                {{},
                 {},
                 {"upperarm", "forearm"},
                 {"upperarm", "forearm", "hand"},
                 {"clavicle", "upperarm", "forearm", "hand"}});
    }
  }

  // Some rigs call all joints of a limb the same, "leg_1" to "leg_4": their order tells them apart.
  void name_limb(Side side, std::string_view word, const std::vector<Words>& names_by_count) {
    std::vector<size_t> joints;
    for (size_t j = 0; j < plain.size(); ++j)
      if (plain[j].side == side && plain[j].words == word) joints.push_back(j);
    if (joints.size() < 2 || joints.size() >= names_by_count.size()) return;
    for (size_t i = 0; i < joints.size(); ++i)
      plain[joints[i]].words = names_by_count[joints.size()][i];
  }

  // The first unused joint of a part by the most preferred name, or -1.
  int find_part(const BodyPart& part, Side side) const {
    for (const std::string_view name : part.names)
      for (size_t j = 0; j < plain.size(); ++j)
        if (!used[j] && plain[j].side == side && plain[j].words == name) return static_cast<int>(j);
    return -1;
  }

  std::vector<int> find_chain(const Words& names) const {
    std::vector<int> chain;
    for (size_t j = 0; j < plain.size(); ++j)
      if (!used[j] && plain[j].side == Side::middle && contains(names, plain[j].words))
        chain.push_back(static_cast<int>(j));
    return chain;
  }

  std::vector<PlainName> plain;
  std::vector<bool> used;
};

class Pairing {
 public:
  Pairing(const Skeleton& a, const Skeleton& b) : m_a(a), m_b(b) {}

  std::vector<JointPair> pairs() {
    pair_parts();
    for (const Words& names : chains()) pair_chain(m_a.find_chain(names), m_b.find_chain(names));
    pair_equal_names();
    std::sort(m_pairs.begin(), m_pairs.end(),
              [](const JointPair& x, const JointPair& y) { return x.a < y.a; });
    return m_pairs;
  }

 private:
  void add(int a, int b, JointKind kind) {
    m_a.used[a] = m_b.used[b] = true;
    m_pairs.push_back({a, b, kind});
  }

  // A part that only one skeleton has still takes its joint, so that this joint's name cannot come
  // to mean another part.
  void pair_parts() {
    for (const BodyPart& part : body_parts()) {
      const auto sides =
          part.sided ? std::vector{Side::left, Side::right} : std::vector{Side::middle};
      for (const Side side : sides) {
        const int a = m_a.find_part(part, side), b = m_b.find_part(part, side);
        if (a >= 0 && b >= 0)
          add(a, b, part.kind);
        else if (a >= 0)
          m_a.used[a] = true;
        else if (b >= 0)
          m_b.used[b] = true;
      }
    }
  }

  // Pairs two chains end to end, spreading the shorter one evenly over the longer.
  void pair_chain(const std::vector<int>& a, const std::vector<int>& b) {
    const size_t count = std::min(a.size(), b.size());
    const auto spread = [count](size_t i, size_t size) {
      return count < 2 ? 0 : (2 * i * (size - 1) + count - 1) / (2 * (count - 1));
    };
    for (size_t i = 0; i < count; ++i)
      add(a[spread(i, a.size())], b[spread(i, b.size())], JointKind::trunk);
  }

  void pair_equal_names() {
    std::multimap<std::string, int> unused;
    const auto key = [](const PlainName& n) {
      return std::to_string(static_cast<int>(n.side)) + n.words + '/' + n.number;
    };
    for (size_t j = 0; j < m_b.plain.size(); ++j)
      if (!m_b.used[j]) unused.emplace(key(m_b.plain[j]), static_cast<int>(j));
    for (size_t j = 0; j < m_a.plain.size(); ++j) {
      if (m_a.used[j]) continue;
      const auto found = unused.find(key(m_a.plain[j]));
      if (found == unused.end()) continue;
      add(static_cast<int>(j), found->second, JointKind::other);
      unused.erase(found);
    }
  }

  Names m_a, m_b;
  std::vector<JointPair> m_pairs;
};

}  // namespace

PlainName plain_name(std::string_view name) {
  const size_t space = name.find_last_of(":|");
  if (space != std::string_view::npos && space + 1 < name.size()) name.remove_prefix(space + 1);
  PlainName result;
  for (const std::string& word : split_words(name)) {
    if (word == "l" || word == "left")
      result.side = Side::left;
    else if (word == "r" || word == "right")
      result.side = Side::right;
    else if (std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      result.number += word.substr(std::min(word.find_first_not_of('0'), word.size() - 1)) + '.';
    else if (!is_prefix(word))
      result.words += word;
  }
  return result;
}

bool is_hips(std::string_view name) {
  const PlainName plain = plain_name(name);
  return plain.side == Side::middle && contains({"hips", "pelvis", "hip"}, plain.words);
}

bool is_head(std::string_view name) {
  const PlainName plain = plain_name(name);
  return plain.side == Side::middle && contains({"head", "skull"}, plain.words);
}

std::vector<JointPair> pair_joints(const Skeleton& a, const Skeleton& b) {
  return Pairing(a, b).pairs();
}

}  // namespace supple
