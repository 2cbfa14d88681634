// Lines of a skin, drawn as thin rods: a triangle whose last two corners are one stands for a segment.
import { Box3, CylinderGeometry, InstancedMesh, Matrix4, MeshStandardMaterial, Quaternion, Vector3 } from "three";
import { boundsOf } from "./bounds";

const UP = new Vector3(0, 1, 0);
/// Thickness of a line, relative to the longest side of the whole skin.
const THICKNESS = 0.012;

/// Pairs of vertices for all segments among triangles.
export function segmentsOf(triangles: Uint32Array): Uint32Array<ArrayBuffer> {
  const pairs: number[] = [];
  for (let t = 0; t < triangles.length; t += 3)
    if (triangles[t + 1] === triangles[t + 2] && triangles[t] !== triangles[t + 1])
      pairs.push(triangles[t]!, triangles[t + 1]!);
  return new Uint32Array(pairs);
}

/// The rods of all segments of a skin.
export class Lines {
  readonly mesh: InstancedMesh<CylinderGeometry, MeshStandardMaterial>;
  private readonly radius: number;

  constructor(rest: Float32Array, private readonly segments: Uint32Array) {
    const size = boundsOf(rest, null, new Box3()).getSize(new Vector3());
    this.radius = (THICKNESS / 2) * Math.max(size.x, size.y, size.z);
    this.mesh = new InstancedMesh(new CylinderGeometry(1, 1, 1, 8, 1), new MeshStandardMaterial({ roughness: 0.58 }), segments.length / 2);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.setPositions(rest);
  }

  /// Moves the rods to where the vertices are.
  setPositions(positions: Float32Array): void {
    const a = new Vector3(), b = new Vector3(), along = new Vector3(), middle = new Vector3();
    const turn = new Quaternion(), size = new Vector3(), matrix = new Matrix4();
    for (let s = 0; s < this.segments.length; s += 2) {
      a.fromArray(positions, 3 * this.segments[s]!);
      b.fromArray(positions, 3 * this.segments[s + 1]!);
      along.subVectors(b, a);
      const length = along.length();
      middle.addVectors(a, b).multiplyScalar(0.5);
      turn.setFromUnitVectors(UP, length > 0 ? along.divideScalar(length) : UP);
      // A little longer, so that bends have no gaps.
      size.set(this.radius, length + this.radius, this.radius);
      this.mesh.setMatrixAt(s / 2, matrix.compose(middle, turn, size));
    }
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  /// Frees what lies on the graphics card.
  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.dispose();
  }
}
