// The skin on stage: one mesh whose positions are replaced with every frame, in clay, vertex colours, part colours or
// a colour map, smooth or flat, with its edges on top when asked for.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, DynamicDrawUsage, Group, LineBasicMaterial,
  LineSegments, LinearFilter, Mesh, MeshBasicMaterial, MeshStandardMaterial, SRGBColorSpace, Sphere,
} from "three";
import { type ColourTable, DIVERGING, SEQUENTIAL, TABLE_SIZE, partColour } from "./colour_maps";
import { uniqueEdges } from "./edges";
import { Lines, segmentsOf } from "./lines";
import { NormalSolver } from "./normals";
import type { PartInfo } from "./protocol";
import type { Shape } from "./shape";

/// Three layers see the skin: the ordinary one, and one that only shadows of contact look at.
export const CONTACT_LAYER = 1;

/// How the skin is coloured.
export type Paint = "clay" | "vertex colours" | "parts" | "map" | "ghost" | "faint ghost";

/// Whether a paint is one of the see-through ones for an exhibit that others are compared with.
export function isGhost(paint: Paint): boolean {
  return paint === "ghost" || paint === "faint ghost";
}

const CLAY = new Color(0xc8a592);
const GHOST = new Color(0x3f8cff);
const EVERYWHERE = new Sphere(undefined, 1e9);

function lookupTexture(table: ColourTable): DataTexture {
  const texture = new DataTexture(table, TABLE_SIZE, 1);
  texture.colorSpace = SRGBColorSpace;
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

const SEQUENTIAL_TEXTURE = lookupTexture(SEQUENTIAL);
const DIVERGING_TEXTURE = lookupTexture(DIVERGING);

/// The numbers the map's shader reads: the value at the low end, one over the range, and the colours.
interface MapUniforms {
  mapLow: { value: number };
  mapScale: { value: number };
  mapColours: { value: DataTexture };
}

function makeMapMaterial(uniforms: MapUniforms): MeshStandardMaterial {
  const material = new MeshStandardMaterial({ roughness: 0.8, side: DoubleSide, toneMapped: false });
  material.color.setScalar(0.85);
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = `attribute float mapValue;\nvarying float vMapValue;\n${shader.vertexShader}`.replace(
      "#include <begin_vertex>", "#include <begin_vertex>\n  vMapValue = mapValue;");
    shader.fragmentShader =
      `uniform float mapLow;\nuniform float mapScale;\nuniform sampler2D mapColours;\nvarying float vMapValue;\n${shader.fragmentShader}`
        .replace("#include <color_fragment>", `#include <color_fragment>
  float mapAt = clamp((vMapValue - mapLow) * mapScale, 0.0, 1.0);
  diffuseColor.rgb *= texture2D(mapColours, vec2((mapAt * ${TABLE_SIZE - 1}.0 + 0.5) / ${TABLE_SIZE}.0, 0.5)).rgb;`);
  };
  return material;
}

/// The visible mesh of one exhibit.
export class Skin {
  readonly group = new Group();
  readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial>;
  private readonly geometry = new BufferGeometry();
  private readonly position: BufferAttribute;
  private readonly normal: BufferAttribute;
  private readonly solver: NormalSolver;
  private readonly plain = new MeshStandardMaterial({ roughness: 0.58, side: DoubleSide });
  private readonly mapUniforms: MapUniforms = {
    mapLow: { value: 0 }, mapScale: { value: 1 }, mapColours: { value: SEQUENTIAL_TEXTURE },
  };
  private readonly mapMaterial = makeMapMaterial(this.mapUniforms);
  private readonly depthOnly: Mesh<BufferGeometry, MeshBasicMaterial>;
  private wires: LineSegments<BufferGeometry, LineBasicMaterial> | null = null;
  private readonly lines: Lines | null;
  private colour: BufferAttribute | null = null;
  private mapValues: BufferAttribute | null = null;

  constructor(private readonly shape: Shape, private readonly parts: PartInfo[]) {
    this.position = new BufferAttribute(new Float32Array(shape.rest), 3).setUsage(DynamicDrawUsage);
    this.normal = new BufferAttribute(new Float32Array(shape.rest.length), 3).setUsage(DynamicDrawUsage);
    this.solver = new NormalSolver(shape.rest, shape.triangles);
    this.geometry.setAttribute("position", this.position);
    this.geometry.setAttribute("normal", this.normal);
    this.geometry.setIndex(new BufferAttribute(shape.triangles, 1));
    this.geometry.boundingSphere = EVERYWHERE;
    this.mesh = new Mesh(this.geometry, this.plain);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.layers.enable(CONTACT_LAYER);
    this.depthOnly = new Mesh(this.geometry, new MeshBasicMaterial({ colorWrite: false, side: DoubleSide, transparent: true }));
    this.depthOnly.visible = false;
    this.depthOnly.renderOrder = 4;
    for (const mesh of [this.mesh, this.depthOnly]) mesh.frustumCulled = false;
    for (const material of [this.plain, this.mapMaterial, this.depthOnly.material]) {
      material.polygonOffset = true;
      material.polygonOffsetFactor = material.polygonOffsetUnits = 1;
      material.shadowSide = DoubleSide;
    }
    const segments = segmentsOf(shape.triangles);
    this.lines = segments.length > 0 ? new Lines(shape.rest, segments) : null;
    this.group.add(this.depthOnly, this.mesh, ...(this.lines ? [this.lines.mesh] : []));
    this.setPositions(shape.rest);
  }

  /// The positions on screen, three per vertex; not a copy.
  get positions(): Float32Array {
    return this.position.array as Float32Array;
  }

  /// Moves the vertices.
  setPositions(positions: Float32Array): void {
    this.positions.set(positions);
    this.position.needsUpdate = true;
    this.solver.solve(positions, this.normal.array as Float32Array);
    this.normal.needsUpdate = true;
    this.lines?.setPositions(positions);
  }

  /// Chooses what the surface looks like; clay stands in for vertex colours that are not there.
  setPaint(paint: Paint, flat: boolean): void {
    const wanted = paint === "vertex colours" && !this.shape.colours ? "clay" : paint;
    const material = wanted === "map" ? this.mapMaterial : this.plain;
    const coloured = wanted === "vertex colours" || wanted === "parts";
    if (coloured) this.setColours(wanted === "parts" ? this.partColours() : this.shape.colours!);
    const ghost = isGhost(wanted);
    if (material.flatShading !== flat || material.vertexColors !== coloured || material.transparent !== ghost)
      material.needsUpdate = true;
    material.flatShading = flat;
    material.vertexColors = coloured;
    material.transparent = ghost;
    material.opacity = wanted === "ghost" ? 0.4 : ghost ? 0.14 : 1;
    if (wanted !== "map") material.color.copy(ghost ? GHOST : coloured ? new Color(1, 1, 1) : CLAY);
    this.mesh.material = material;
    if (this.lines) {
      this.lines.mesh.material.color.copy(ghost ? GHOST : CLAY);
      this.lines.mesh.material.transparent = ghost;
      this.lines.mesh.material.opacity = ghost ? 0.4 : 1;
    }
    // A ghost first fills the depth buffer, so that only its nearest surface is blended.
    this.depthOnly.visible = ghost;
    this.mesh.renderOrder = ghost ? 5 : 0;
    this.mesh.castShadow = this.mesh.receiveShadow = !ghost;
    if (ghost) this.mesh.layers.disable(CONTACT_LAYER);
    else this.mesh.layers.enable(CONTACT_LAYER);
  }

  /// Numbers per vertex for the paint "map", and which of them get the colours at the ends.
  setValues(values: Float32Array, low: number, high: number, diverging: boolean): void {
    if (!this.mapValues) {
      this.mapValues = new BufferAttribute(new Float32Array(values.length), 1).setUsage(DynamicDrawUsage);
      this.geometry.setAttribute("mapValue", this.mapValues);
    }
    (this.mapValues.array as Float32Array).set(values);
    this.mapValues.needsUpdate = true;
    this.mapUniforms.mapLow.value = low;
    this.mapUniforms.mapScale.value = high > low ? 1 / (high - low) : 0;
    this.mapUniforms.mapColours.value = diverging ? DIVERGING_TEXTURE : SEQUENTIAL_TEXTURE;
  }

  /// Shows surface and edges or not; edges alone when only they are wanted.
  setVisible(surface: boolean, wireframe: boolean, wireColour: Color): void {
    this.mesh.visible = surface;
    if (this.lines) this.lines.mesh.visible = surface;
    if (!surface) this.depthOnly.visible = false;
    if (wireframe && !this.wires) this.wires = this.makeWires();
    if (!this.wires) return;
    this.wires.visible = wireframe;
    this.wires.material.color.copy(wireColour);
    this.wires.material.opacity = surface ? 0.36 : 0.75;
  }

  /// Frees what lies on the graphics card.
  dispose(): void {
    this.geometry.dispose();
    this.lines?.dispose();
    this.plain.dispose();
    this.mapMaterial.dispose();
    this.depthOnly.material.dispose();
    this.wires?.geometry.dispose();
    this.wires?.material.dispose();
  }

  private makeWires(): LineSegments<BufferGeometry, LineBasicMaterial> {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.position);
    geometry.setIndex(new BufferAttribute(uniqueEdges(this.shape.triangles, 3, [0, 1, 1, 2, 2, 0]), 1));
    geometry.boundingSphere = EVERYWHERE;
    const wires = new LineSegments(geometry, new LineBasicMaterial({ transparent: true, depthWrite: false }));
    wires.frustumCulled = false;
    wires.renderOrder = 6;
    this.group.add(wires);
    return wires;
  }

  private setColours(colours: Float32Array): void {
    if (this.colour?.array === colours) return;
    this.colour = new BufferAttribute(colours, 3);
    this.geometry.setAttribute("color", this.colour);
  }

  private partColours(): Float32Array {
    const colours = new Float32Array(this.shape.rest.length);
    this.parts.forEach(({ vertices: [first, count] }, i) => {
      const colour = partColour(i);
      for (let v = first; v < first + count; ++v) colours.set(colour, 3 * v);
    });
    return colours;
  }
}
