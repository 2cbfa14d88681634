// The mesh a body is simulated on, as lines: edges of hexahedra, tetrahedra, and segments. Lines behind the skin
// shine through faintly.
import { Color, GreaterDepth, Group, type InterleavedBufferAttribute } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { uniqueEdges } from "./edges";
import type { MeshCells } from "./shape";

// Corner i + 2j + 4k lies at offset (i, j, k).
const HEXAHEDRON = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];
const TETRAHEDRON = [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3];

function edgesOf(cells: MeshCells): Uint32Array {
  const lists: Uint32Array[] = [];
  if (cells.hexahedra) lists.push(uniqueEdges(cells.hexahedra, 8, HEXAHEDRON));
  if (cells.tetrahedra) lists.push(uniqueEdges(cells.tetrahedra, 4, TETRAHEDRON));
  if (cells.segments) lists.push(uniqueEdges(cells.segments, 2, [0, 1]));
  const edges = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    edges.set(list, at);
    at += list.length;
  }
  return edges;
}

/// The cells of a frame, with those of the static chunk where the frame has none.
export function cellsOf(frame: MeshCells, fixed: MeshCells): MeshCells {
  return {
    hexahedra: frame.hexahedra ?? fixed.hexahedra,
    tetrahedra: frame.tetrahedra ?? fixed.tetrahedra,
    segments: frame.segments ?? fixed.segments,
  };
}

/// The simulation mesh of one exhibit.
export class SimulationMesh {
  readonly group = new Group();
  private readonly front = new LineMaterial({ linewidth: 1.1, transparent: true, depthWrite: false });
  private readonly behind = new LineMaterial({ linewidth: 1, transparent: true, depthWrite: false });
  private geometry: LineSegmentsGeometry | null = null;
  private ends: Float32Array = new Float32Array(0);
  private edges: Uint32Array = new Uint32Array(0);
  private built: MeshCells | null = null;

  constructor() {
    this.behind.depthFunc = GreaterDepth;
  }

  /// Sets the colour of the lines.
  setColour(colour: Color): void {
    this.front.color.copy(colour);
    this.behind.color.copy(colour);
    this.front.opacity = 0.85;
    this.behind.opacity = 0.13;
  }

  /// Moves the nodes; throws when a cell names a node that is not there.
  update(nodes: Float32Array, cells: MeshCells): void {
    const { built } = this;
    if (!built || built.hexahedra !== cells.hexahedra || built.tetrahedra !== cells.tetrahedra
        || built.segments !== cells.segments)
      this.rebuild(cells);
    const { edges, ends } = this;
    const count = nodes.length / 3;
    for (let i = 0; i < edges.length; ++i) {
      const node = edges[i]!;
      if (node >= count) throw new Error(`the simulation mesh names node ${node}, but there are only ${count}`);
      ends[3 * i] = nodes[3 * node]!;
      ends[3 * i + 1] = nodes[3 * node + 1]!;
      ends[3 * i + 2] = nodes[3 * node + 2]!;
    }
    const start = this.geometry?.getAttribute("instanceStart") as InterleavedBufferAttribute | undefined;
    if (start) start.data.needsUpdate = true;
  }

  dispose(): void {
    this.geometry?.dispose();
    this.front.dispose();
    this.behind.dispose();
  }

  private rebuild(cells: MeshCells): void {
    this.built = cells;
    this.edges = edgesOf(cells);
    this.ends = new Float32Array(3 * this.edges.length);
    this.geometry?.dispose();
    this.group.clear();
    this.geometry = null;
    if (this.edges.length === 0) return;
    this.geometry = new LineSegmentsGeometry();
    this.geometry.setPositions(this.ends);
    for (const [material, order] of [[this.front, 7], [this.behind, 8]] as const) {
      const lines = new LineSegments2(this.geometry, material);
      lines.frustumCulled = false;
      lines.renderOrder = order;
      this.group.add(lines);
    }
  }
}
