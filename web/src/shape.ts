// The arrays of static and frame chunks that the page shows, checked against each other.
import { type Chunk, floats, indices, parseChunk } from "./chunk";
import type { ExhibitInfo } from "./protocol";

/// Cells and lines of a simulation mesh: node numbers, 8, 4 and 2 per row.
export interface MeshCells {
  hexahedra: Uint32Array | null;
  tetrahedra: Uint32Array | null;
  segments: Uint32Array | null;
}

/// What does not change over the frames of an exhibit. Lengths in metres.
export interface Shape {
  rest: Float32Array;
  triangles: Uint32Array;
  colours: Float32Array | null;  // linear red, green, blue per vertex
  cells: MeshCells;
  colliderVertices: Float32Array | null;
  colliderTriangles: Uint32Array | null;
}

/// One frame of an exhibit.
export interface Frame {
  number: number;
  time: number;
  positions: Float32Array;
  joints: Float32Array | null;  // three rows of four per joint
  maps: Map<string, Float32Array>;
  nodes: Float32Array | null;
  cells: MeshCells;
  colliderVertices: Float32Array | null;
  bytes: number;
}

const ANY = 0xffffffff;
const EMPTY = new Float32Array(0);

/// Reads the static chunk of an exhibit.
export function parseShape(buffer: ArrayBuffer, exhibit: ExhibitInfo): Shape {
  const what = exhibit.file;
  const chunk = parseChunk(buffer, 0, what);
  const rest = floats(chunk, "rest", 3, what) ?? EMPTY;
  if (rest.length !== 3 * exhibit.vertices)
    throw new Error(`${what}: the rest shape has ${rest.length / 3} vertices instead of ${exhibit.vertices}`);
  const vertices = floats(chunk, "collider/vertices", 3, what);
  return {
    rest,
    triangles: indices(chunk, "triangles", 3, exhibit.vertices, what) ?? new Uint32Array(0),
    colours: readColours(chunk, exhibit.vertices),
    cells: readCells(chunk, ANY, what),
    colliderVertices: vertices,
    colliderTriangles: indices(chunk, "collider/triangles", 3, vertices ? vertices.length / 3 : ANY, what),
  };
}

/// Reads the chunk of a frame that starts at `start` of the buffer.
export function parseFrame(buffer: ArrayBuffer, start: number, number: number, exhibit: ExhibitInfo): Frame {
  const what = `${exhibit.file}, frame ${number}`;
  const chunk = parseChunk(buffer, start, what);
  const positions = floats(chunk, "positions", 3, what) ?? EMPTY;
  if (positions.length !== 3 * exhibit.vertices)
    throw new Error(`${what}: has ${positions.length / 3} vertices instead of ${exhibit.vertices}`);
  const joints = floats(chunk, "joints", 12, what);
  const nodes = floats(chunk, "mesh/nodes", 3, what);
  const time = chunk.get("time")?.data[0];
  return {
    number,
    time: typeof time === "number" ? time : (number - exhibit.frames.first) / exhibit.frames.rate,
    positions,
    joints: joints && joints.length === 12 * exhibit.joints.length ? joints : null,
    maps: readMaps(chunk, exhibit.vertices, what),
    nodes,
    cells: readCells(chunk, nodes ? nodes.length / 3 : 0, what),
    colliderVertices: floats(chunk, "collider/vertices", 3, what),
    bytes: buffer.byteLength,
  };
}

function readMaps(chunk: Chunk, vertices: number, what: string): Map<string, Float32Array> {
  const maps = new Map<string, Float32Array>();
  for (const [name, array] of chunk) {
    if (!name.startsWith("map/") || !(array.data instanceof Float32Array)) continue;
    if (array.data.length !== vertices) throw new Error(`${what}: array '${name}' has not one number per vertex`);
    maps.set(name.slice(4), array.data);
  }
  return maps;
}

function readCells(chunk: Chunk, nodes: number, what: string): MeshCells {
  return {
    hexahedra: indices(chunk, "mesh/hexahedra", 8, nodes, what),
    tetrahedra: indices(chunk, "mesh/tetrahedra", 4, nodes, what),
    segments: indices(chunk, "mesh/segments", 2, nodes, what),
  };
}

/// Vertex colours without alpha; null when there are none or all vertices have the same, which says nothing.
function readColours(chunk: Chunk, vertices: number): Float32Array | null {
  const array = chunk.get("attribute/COLOR_0");
  if (!array || !(array.data instanceof Float32Array) || array.rows !== vertices || array.components < 3) return null;
  const colours = new Float32Array(3 * vertices);
  let differs = false;
  for (let v = 0; v < vertices; ++v)
    for (let c = 0; c < 3; ++c) {
      const value = array.data[v * array.components + c]!;
      colours[3 * v + c] = value;
      differs ||= Math.abs(value - colours[c]!) > 1e-3;
    }
  return differs ? colours : null;
}
