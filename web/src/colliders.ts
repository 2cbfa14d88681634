// Colliders as translucent surfaces.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, MeshStandardMaterial } from "three";
import { NormalSolver } from "./normals";

/// The colliders of one exhibit.
export class Colliders {
  readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial>;
  private readonly position: BufferAttribute;
  private readonly normal: BufferAttribute;
  private readonly solver: NormalSolver;

  /// `vertices` decide which corners share a normal; `triangles` name them.
  constructor(vertices: Float32Array, triangles: Uint32Array) {
    const geometry = new BufferGeometry();
    this.position = new BufferAttribute(new Float32Array(vertices), 3).setUsage(DynamicDrawUsage);
    this.normal = new BufferAttribute(new Float32Array(vertices.length), 3).setUsage(DynamicDrawUsage);
    this.solver = new NormalSolver(vertices, triangles);
    geometry.setAttribute("position", this.position);
    geometry.setAttribute("normal", this.normal);
    geometry.setIndex(new BufferAttribute(triangles, 1));
    const material = new MeshStandardMaterial({
      color: new Color(0x7d8fb3), roughness: 0.35, transparent: true, opacity: 0.34, side: DoubleSide, depthWrite: false,
    });
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 9;
    this.update(vertices);
  }

  /// Number of corners.
  get corners(): number {
    return this.position.count;
  }

  /// Moves the corners.
  update(vertices: Float32Array): void {
    (this.position.array as Float32Array).set(vertices);
    this.solver.solve(vertices, this.normal.array as Float32Array);
    this.position.needsUpdate = this.normal.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
