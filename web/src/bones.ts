// Bones as tapered octahedra from joint to joint, with a small ball at every joint. They are drawn over everything
// else, in a scene of their own.
import {
  BackSide, BufferAttribute, BufferGeometry, Color, Group, IcosahedronGeometry, InstancedMesh, Matrix4, MeshBasicMaterial,
  MeshStandardMaterial, Vector3,
} from "three";
import type { JointInfo } from "./protocol";

const BONE_COLOUR = new Color(0xf3e3bf);
const JOINT_COLOUR = new Color(0xe8825a);
const OUTLINE_COLOUR = new Color(0x2b2622);
const THICKNESS = 0.085;  // of a bone, in its length
const OUTLINE = 1.28;     // how much wider the dark rim around a bone is

/// An octahedron from (0, 0, 0) to (0, 1, 0), widest near its start; `wide` scales its width.
function octahedron(wide: number): BufferGeometry {
  const w = THICKNESS * wide;
  const h = 0.16;
  const rim = 0.05 * (wide - 1);
  const corners = [[0, -rim, 0], [w, h, 0], [0, h, w], [-w, h, 0], [0, h, -w], [0, 1 + rim, 0]];
  const faces = [0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 5, 2, 1, 5, 3, 2, 5, 4, 3, 5, 1, 4];
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(faces.flatMap((i) => corners[i]!)), 3));
  geometry.computeVertexNormals();
  return geometry;
}

/// The skeleton of one exhibit.
export class Bones {
  readonly group = new Group();
  private readonly pairs: [number, number][] = [];
  private readonly shown: number[] = [];
  private readonly bones: InstancedMesh<BufferGeometry, MeshStandardMaterial>;
  private readonly balls: InstancedMesh<BufferGeometry, MeshStandardMaterial>;
  /// Seen from inside, a slightly wider bone is a dark line around the bone.
  private readonly rims: InstancedMesh<BufferGeometry, MeshBasicMaterial>;
  private readonly matrix = new Matrix4();
  private readonly from = new Vector3();
  private readonly x = new Vector3();
  private readonly y = new Vector3();
  private readonly z = new Vector3();

  /// Shows the joints that vertices follow; all of them when there is no skin.
  constructor(joints: JointInfo[], skinned: boolean) {
    joints.forEach((joint, i) => {
      if (skinned && !joint.bone) return;
      this.shown.push(i);
      if (joint.parent >= 0 && (!skinned || joints[joint.parent]?.bone)) this.pairs.push([joint.parent, i]);
    });
    const boneMaterial = new MeshStandardMaterial({ color: BONE_COLOUR, roughness: 0.6, flatShading: true });
    const ballMaterial = new MeshStandardMaterial({ color: JOINT_COLOUR, roughness: 0.5 });
    this.bones = new InstancedMesh(octahedron(1), boneMaterial, Math.max(1, this.pairs.length));
    this.balls = new InstancedMesh(new IcosahedronGeometry(1, 2), ballMaterial, Math.max(1, this.shown.length));
    this.bones.count = this.pairs.length;
    this.balls.count = this.shown.length;
    this.rims = new InstancedMesh(octahedron(OUTLINE), new MeshBasicMaterial({ color: OUTLINE_COLOUR, side: BackSide }), this.bones.instanceMatrix.count);
    this.rims.count = this.bones.count;
    this.rims.instanceMatrix = this.bones.instanceMatrix;
    for (const mesh of [this.bones, this.balls, this.rims]) {
      mesh.frustumCulled = false;
      this.group.add(mesh);
    }
  }

  /// Whether there is anything to show.
  get any(): boolean {
    return this.shown.length > 0;
  }

  /// Poses the skeleton; `matrices` holds three rows of four numbers per joint, `size` is the length of the character
  /// in metres.
  pose(matrices: Float32Array, size: number): void {
    let total = 0;
    this.pairs.forEach(([a, b], i) => {
      total += this.placeBone(matrices, a, b);
      this.bones.setMatrixAt(i, this.matrix);
    });
    const usual = this.pairs.length > 0 ? total / this.pairs.length : 0.1 * size;
    const radius = Math.min(0.012 * size, 0.09 * usual);
    this.shown.forEach((joint, i) => {
      const m = 12 * joint;
      this.matrix.makeScale(radius, radius, radius).setPosition(matrices[m + 3]!, matrices[m + 7]!, matrices[m + 11]!);
      this.balls.setMatrixAt(i, this.matrix);
    });
    this.bones.instanceMatrix.needsUpdate = this.balls.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    for (const mesh of [this.bones, this.balls, this.rims]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
  }

  /// Sets `matrix` to stretch an octahedron from joint a to joint b; returns the distance in metres.
  private placeBone(matrices: Float32Array, a: number, b: number): number {
    const { from, x, y, z } = this;
    from.set(matrices[12 * a + 3]!, matrices[12 * a + 7]!, matrices[12 * a + 11]!);
    y.set(matrices[12 * b + 3]!, matrices[12 * b + 7]!, matrices[12 * b + 11]!).sub(from);
    const length = y.length();
    if (length < 1e-9) {
      this.matrix.makeScale(0, 0, 0).setPosition(from);
      return 0;
    }
    y.divideScalar(length);
    x.set(matrices[12 * a]!, matrices[12 * a + 4]!, matrices[12 * a + 8]!);  // the joint's own x axis sets the roll
    x.addScaledVector(y, -x.dot(y));
    if (x.lengthSq() < 1e-12) x.set(-y.y, y.x, 0.01).addScaledVector(y, -(0.01 * y.z));
    x.normalize();
    z.crossVectors(x, y).normalize();
    x.crossVectors(y, z);
    this.matrix.makeBasis(x.multiplyScalar(length), y.multiplyScalar(length), z.multiplyScalar(length)).setPosition(from);
    return length;
  }
}
