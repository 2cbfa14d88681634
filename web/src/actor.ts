// One exhibit on stage: its skin and everything that can be laid over it.
import { Box3, type Color, Group } from "three";
import { Bones } from "./bones";
import { boundsOf } from "./bounds";
import { Colliders } from "./colliders";
import type { ViewOptions } from "./options";
import type { ExhibitInfo } from "./protocol";
import type { Frame, Shape } from "./shape";
import { SimulationMesh, cellsOf } from "./simulation_mesh";
import { type Paint, Skin, isGhost } from "./skin";

/// Colours of lines in a theme.
export interface LineColours {
  wire: Color;
  mesh: Color;
}

/// Everything of an exhibit that is drawn.
export class Actor {
  /// Part of the scene.
  readonly group = new Group();
  /// Drawn over the scene.
  readonly over = new Group();
  /// Where the skin (or the skeleton, when there is no skin) is now.
  readonly box = new Box3();
  readonly skin: Skin;
  frame: Frame | null = null;
  private readonly bones: Bones;
  private readonly mesh = new SimulationMesh();
  private colliders: Colliders | null = null;
  private meshShown = false;
  private bonesShown = false;

  constructor(readonly exhibit: number, readonly info: ExhibitInfo, readonly shape: Shape) {
    this.skin = new Skin(shape, info.parts);
    this.bones = new Bones(info.joints, info.vertices > 0);
    this.group.add(this.skin.group, this.mesh.group);
    this.over.add(this.bones.group);
    if (shape.colliderVertices && shape.colliderTriangles) this.makeColliders(shape.colliderVertices);
    boundsOf(shape.rest, null, this.box);
  }

  /// Which overlays there is something to show of.
  get present(): { bones: boolean; mesh: boolean; colliders: boolean } {
    const cells = this.frame ? cellsOf(this.frame.cells, this.shape.cells) : this.shape.cells;
    return {
      bones: this.bones.any && this.frame?.joints != null,
      mesh: this.frame?.nodes != null && (cells.hexahedra ?? cells.tetrahedra ?? cells.segments) !== null,
      colliders: this.colliders !== null,
    };
  }

  /// Shows a frame.
  show(frame: Frame): void {
    this.frame = frame;
    this.skin.setPositions(frame.positions);
    boundsOf(frame.positions, frame.joints, this.box);
    if (frame.colliderVertices && this.shape.colliderTriangles) {
      if (this.colliders?.corners !== frame.colliderVertices.length / 3) this.makeColliders(frame.colliderVertices);
      else this.colliders.update(frame.colliderVertices);
    }
    this.poseOverlays();
  }

  /// Applies the choices of the user; `paint` says what the surface looks like.
  apply(options: ViewOptions, paint: Paint, colours: LineColours): void {
    const ghost = isGhost(paint);
    this.skin.setPaint(paint, options.shading === "flat");
    this.skin.setVisible(options.skin || ghost, options.wireframe && !ghost, colours.wire);
    this.mesh.setColour(colours.mesh);
    const present = this.present;
    this.meshShown = options.mesh && present.mesh && !ghost;
    this.bonesShown = present.bones && !ghost && (options.bones || this.info.vertices === 0);
    this.mesh.group.visible = this.meshShown;
    this.bones.group.visible = this.bonesShown;
    if (this.colliders) this.colliders.mesh.visible = options.colliders && !ghost;
    this.poseOverlays();
  }

  /// Whether something is drawn over the scene.
  get drawsOver(): boolean {
    return this.bonesShown;
  }

  dispose(): void {
    this.skin.dispose();
    this.bones.dispose();
    this.mesh.dispose();
    this.colliders?.dispose();
    this.group.removeFromParent();
    this.over.removeFromParent();
  }

  /// Overlays that are not on show are not moved.
  private poseOverlays(): void {
    const { frame } = this;
    if (!frame) return;
    if (this.meshShown && frame.nodes) this.mesh.update(frame.nodes, cellsOf(frame.cells, this.shape.cells));
    if (this.bonesShown && frame.joints) this.bones.pose(frame.joints, this.box.max.distanceTo(this.box.min));
  }

  private makeColliders(vertices: Float32Array): void {
    const triangles = this.shape.colliderTriangles!;
    for (const corner of triangles)
      if (corner >= vertices.length / 3) throw new Error(`${this.info.file}: a collider names corner ${corner}, but there are only ${vertices.length / 3}`);
    const visible = this.colliders?.mesh.visible ?? false;
    this.colliders?.mesh.removeFromParent();
    this.colliders?.dispose();
    this.colliders = new Colliders(vertices, triangles);
    this.colliders.mesh.visible = visible;
    this.group.add(this.colliders.mesh);
  }
}
