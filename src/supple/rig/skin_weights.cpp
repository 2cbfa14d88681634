#include "supple/rig/skin_weights.h"

#include <algorithm>
#include <cmath>

namespace supple {

double SkinWeights::add_vertex(std::span<const Influence> given, int32_t fallback_bind) {
  const auto first = static_cast<ptrdiff_t>(influences.size());
  double given_sum = 0, kept_sum = 0;
  for (const Influence& influence : given) {
    given_sum += influence.weight;
    if (!(influence.weight > 0) || !std::isfinite(influence.weight)) continue;
    kept_sum += influence.weight;
    const auto same = std::find_if(influences.begin() + first, influences.end(),
                                   [&](const Influence& i) { return i.bind == influence.bind; });
    if (same == influences.end())
      influences.push_back(influence);
    else
      same->weight += influence.weight;
  }
  if (kept_sum > 0)
    for (auto i = influences.begin() + first; i != influences.end(); ++i)
      i->weight = static_cast<float>(i->weight / kept_sum);
  else
    influences.push_back({fallback_bind, 1});
  offsets.push_back(static_cast<int32_t>(influences.size()));
  return given_sum;
}

}  // namespace supple
