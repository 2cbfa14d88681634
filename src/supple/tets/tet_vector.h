// Vectors of three numbers per node of a tetrahedral body.
#pragma once

#include "supple/solve/body_vector.h"

namespace supple {

using TetVector = BodyVector;  ///< as the nodes of tetrahedra are numbered

}  // namespace supple
