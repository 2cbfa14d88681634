// Boxes around what a frame holds.
import { Box3 } from "three";

/// Sets `box` to the smallest one around the vertices, or around the joints (three rows of four numbers each) when
/// there are no vertices. Numbers that are not finite are left out; a box around nothing is one metre wide.
export function boundsOf(positions: Float32Array, joints: Float32Array | null, box: Box3): Box3 {
  const { min, max } = box.makeEmpty();
  const expand = (x: number, y: number, z: number): void => {
    if (!Number.isFinite(x + y + z)) return;
    if (x < min.x) min.x = x;
    if (x > max.x) max.x = x;
    if (y < min.y) min.y = y;
    if (y > max.y) max.y = y;
    if (z < min.z) min.z = z;
    if (z > max.z) max.z = z;
  };
  for (let i = 0; i < positions.length; i += 3) expand(positions[i]!, positions[i + 1]!, positions[i + 2]!);
  if (positions.length === 0 && joints)
    for (let j = 0; j < joints.length; j += 12) expand(joints[j + 3]!, joints[j + 7]!, joints[j + 11]!);
  if (box.isEmpty()) {
    min.set(-0.5, 0, -0.5);
    max.set(0.5, 1, 0.5);
  }
  return box;
}

/// Whether a view of the one box also suits the other: place and size differ by no more than a share of the size.
export function similar(a: Box3, b: Box3, share: number): boolean {
  const sizeA = a.min.distanceTo(a.max);
  const sizeB = b.min.distanceTo(b.max);
  const apart = Math.hypot(a.min.x + a.max.x - b.min.x - b.max.x, a.min.y + a.max.y - b.min.y - b.max.y,
                           a.min.z + a.max.z - b.min.z - b.max.z) / 2;
  return Math.abs(sizeA - sizeB) <= share * Math.min(sizeA, sizeB) && apart <= share * sizeA;
}

/// Height of the floor for a character that starts in this box: where it stands, or 0 when it starts in the air.
export function floorOf(box: Box3): number {
  const height = box.max.y - box.min.y;
  return box.min.y < 0 || box.min.y > 0.25 * height ? box.min.y : 0;
}
