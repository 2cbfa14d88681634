// Contact of bodies of tetrahedra in adjusted steps.
#pragma once

#include <functional>
#include <span>

#include "supple/adjust/adjusted_body.h"
#include "supple/tets/implicit_contact.h"
#include "supple/tets/tet_system.h"

namespace supple {

/// Lets a body touch what `contact` finds, from now on; both must outlive its steps.
inline void touch_by(ImplicitContact& contact, TetSystem& system) {
  system.set_contact(&contact.terms());
}

/// The contact of a step, found by `contact`; `colliders` moves what there is to touch to a part of
/// the step, from 0 to 1.
inline DriveContact contact_drive(
    ImplicitContact& contact, std::function<std::span<const Collider* const>(double)> colliders) {
  DriveContact drive;
  drive.begin = [&contact, colliders](const BodyVector& x, bool anew) {
    if (anew) contact.forget();
    contact.begin_step(colliders(anew ? 1 : 0), x);
  };
  drive.move = [colliders](double part) { colliders(part); };
  drive.find = [&contact](const BodyVector& x, double counts, int look) {
    return contact.find(x, counts, look);
  };
  drive.end = [&contact](const BodyVector& x) { contact.end_step(x); };
  return drive;
}

}  // namespace supple
