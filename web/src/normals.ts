// Smooth normals, recomputed for every frame: area-weighted over all triangles that meet in a point. Vertices that
// the file has several times at one place (texture seams) count as one point, except across a sharp edge.

const SHARPEST = 0.2;  // cosine of the largest angle between vertices that are taken as one point, about 78 degrees

/// Recomputes the normals of one mesh without allocating memory.
export class NormalSolver {
  private readonly points: Int32Array;
  private readonly sums: Float32Array;

  /// `rest` and `triangles` as in the static chunk; they decide which vertices share a normal.
  constructor(rest: Float32Array, private readonly triangles: Uint32Array) {
    const count = rest.length / 3;
    const own = Int32Array.from({ length: count }, (_, v) => v);
    const normals = new Float32Array(rest.length);
    sumAreas(rest, triangles, own, normals);
    const weld = weldVertices(rest, normals);
    this.points = weld.points;
    this.sums = new Float32Array(3 * weld.count);
  }

  /// Fills `normals` with unit vectors for the shape `positions`.
  solve(positions: Float32Array, normals: Float32Array): void {
    const { points, sums } = this;
    sums.fill(0);
    sumAreas(positions, this.triangles, points, sums);
    for (let v = 0; v < points.length; ++v) {
      const p = 3 * points[v]!;
      const x = sums[p]!;
      const y = sums[p + 1]!;
      const z = sums[p + 2]!;
      const length = Math.sqrt(x * x + y * y + z * z);
      const scale = length > 0 ? 1 / length : 0;
      normals[3 * v] = x * scale;
      normals[3 * v + 1] = length > 0 ? y * scale : 1;
      normals[3 * v + 2] = z * scale;
    }
  }
}

/// Adds twice the area vector of every triangle to its three points.
function sumAreas(x: Float32Array, triangles: Uint32Array, points: Int32Array, sums: Float32Array): void {
  for (let t = 0; t < triangles.length; t += 3) {
    const va = triangles[t]!;
    const vb = triangles[t + 1]!;
    const vc = triangles[t + 2]!;
    const ax = x[3 * va]!;
    const ay = x[3 * va + 1]!;
    const az = x[3 * va + 2]!;
    const ux = x[3 * vb]! - ax;
    const uy = x[3 * vb + 1]! - ay;
    const uz = x[3 * vb + 2]! - az;
    const wx = x[3 * vc]! - ax;
    const wy = x[3 * vc + 1]! - ay;
    const wz = x[3 * vc + 2]! - az;
    const nx = uy * wz - uz * wy;
    const ny = uz * wx - ux * wz;
    const nz = ux * wy - uy * wx;
    const a = 3 * points[va]!;
    const b = 3 * points[vb]!;
    const c = 3 * points[vc]!;
    sums[a] = sums[a]! + nx;
    sums[a + 1] = sums[a + 1]! + ny;
    sums[a + 2] = sums[a + 2]! + nz;
    sums[b] = sums[b]! + nx;
    sums[b + 1] = sums[b + 1]! + ny;
    sums[b + 2] = sums[b + 2]! + nz;
    sums[c] = sums[c]! + nx;
    sums[c + 1] = sums[c + 1]! + ny;
    sums[c + 2] = sums[c + 2]! + nz;
  }
}

/// The point of every vertex: vertices with identical rest position whose own normals are not far apart share one.
function weldVertices(rest: Float32Array, normals: Float32Array): { points: Int32Array; count: number } {
  const vertices = rest.length / 3;
  const points = new Int32Array(vertices);
  let size = 16;
  while (size < 2 * vertices) size *= 2;
  const slots = new Int32Array(size).fill(-1);
  const bits = new Int32Array(Float32Array.from(rest, (value) => value + 0).buffer);  // −0 becomes 0
  let count = 0;
  for (let v = 0; v < vertices; ++v) {
    const bx = bits[3 * v]!;
    const by = bits[3 * v + 1]!;
    const bz = bits[3 * v + 2]!;
    let slot = hash(bx, by, bz) & (size - 1);
    for (;;) {
      const w = slots[slot]!;
      if (w < 0) {
        slots[slot] = v;
        points[v] = count++;
        break;
      }
      if (bits[3 * w] === bx && bits[3 * w + 1] === by && bits[3 * w + 2] === bz && agree(normals, v, w)) {
        points[v] = points[w]!;
        break;
      }
      slot = (slot + 1) & (size - 1);
    }
  }
  return { points, count };
}

function hash(x: number, y: number, z: number): number {
  let h = Math.imul(x, 0x8da6b343) ^ Math.imul(y, 0xd8163841) ^ Math.imul(z, 0xcb1ab31f);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return h ^ (h >>> 13);
}

function agree(normals: Float32Array, v: number, w: number): boolean {
  let dot = 0;
  let vv = 0;
  let ww = 0;
  for (let c = 0; c < 3; ++c) {
    const a = normals[3 * v + c]!;
    const b = normals[3 * w + c]!;
    dot += a * b;
    vv += a * a;
    ww += b * b;
  }
  return dot >= SHARPEST * Math.sqrt(vv * ww);
}
