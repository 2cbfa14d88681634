// Reads chunks: named arrays in one file, as docs/cache.md describes them. Arrays are views into the given
// buffer, nothing is copied. Checksums are not verified: the server has done that.

/// The numbers of an array, in the element type of the file.
export type Numbers = Uint8Array | Int32Array | Float32Array | Float64Array | BigUint64Array;

/// One named array: `components` numbers per row, rows one after the other.
export interface ChunkArray {
  components: number;
  rows: number;
  data: Numbers;
}

/// The arrays of a chunk by name.
export type Chunk = Map<string, ChunkArray>;

const SIGNATURE = "SUPPLECK";
const HEADER_BYTES = 32;
const ENTRY_BYTES = 21;
const ELEMENT_BYTES = [1, 4, 4, 8, 8];

/// Parses the chunk that starts at `start` and ends with the buffer; `what` names it in errors.
export function parseChunk(buffer: ArrayBuffer, start: number, what: string): Chunk {
  const size = buffer.byteLength - start;
  const bad = (problem: string): Error => new Error(`${what}: ${problem}`);
  if (size < HEADER_BYTES + 8) throw bad(`too short for a chunk (${Math.max(size, 0)} bytes)`);
  const view = new DataView(buffer, start);
  if (asciiText(new Uint8Array(buffer, start, 8)) !== SIGNATURE) throw bad("not a chunk of a Supple cache");
  const version = view.getUint32(8, true);
  if (version !== 1) throw bad(`format version ${version} is not known to this page, which reads version 1`);
  const stated = Number(view.getBigUint64(16, true));
  if (stated !== size) throw bad(`says it has ${stated} bytes, but ${size} arrived`);
  const tableEnd = HEADER_BYTES + Number(view.getBigUint64(24, true));
  if (tableEnd > size - 8) throw bad("its array table does not fit into it");

  const chunk: Chunk = new Map();
  const count = view.getUint32(12, true);
  let at = HEADER_BYTES;
  for (let i = 0; i < count; ++i) {
    const nameBytes = at < tableEnd ? view.getUint8(at) : 0;
    if (nameBytes === 0 || at + 1 + nameBytes + ENTRY_BYTES > tableEnd) throw bad("its array table is damaged");
    const name = new TextDecoder().decode(new Uint8Array(buffer, start + at + 1, nameBytes));
    at += 1 + nameBytes;
    chunk.set(name, readEntry(view, buffer, start, at, size - 8, (problem) => bad(`array '${name}' ${problem}`)));
    at += ENTRY_BYTES;
  }
  return chunk;
}

function readEntry(view: DataView, buffer: ArrayBuffer, start: number, at: number, end: number,
                   bad: (problem: string) => Error): ChunkArray {
  const type = view.getUint8(at);
  const components = view.getUint32(at + 1, true);
  const offset = Number(view.getBigUint64(at + 5, true));
  const bytes = Number(view.getBigUint64(at + 13, true));
  const elementBytes = ELEMENT_BYTES[type];
  if (elementBytes === undefined) throw bad(`has the unknown element type ${type}`);
  if (components === 0 || bytes % (elementBytes * components) !== 0) throw bad("does not have whole rows");
  if (offset + bytes > end) throw bad("lies outside the file");
  if ((start + offset) % elementBytes !== 0) throw bad("is not aligned");
  const length = bytes / elementBytes;
  return { components, rows: length / components, data: numbersAt(type, buffer, start + offset, length) };
}

function numbersAt(type: number, buffer: ArrayBuffer, offset: number, length: number): Numbers {
  switch (type) {
    case 0: return new Uint8Array(buffer, offset, length);
    case 1: return new Int32Array(buffer, offset, length);
    case 2: return new Float32Array(buffer, offset, length);
    case 3: return new Float64Array(buffer, offset, length);
    default: return new BigUint64Array(buffer, offset, length);
  }
}

function asciiText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/// The array `name` as float32 rows of `components`, or null when the chunk has none.
export function floats(chunk: Chunk, name: string, components: number, what: string): Float32Array | null {
  const array = chunk.get(name);
  if (!array) return null;
  if (!(array.data instanceof Float32Array) || array.components !== components)
    throw new Error(`${what}: array '${name}' is not f32 × ${components}`);
  return array.data;
}

/// The array `name` as rows of `components` numbers from 0 to `limit` − 1, or null when the chunk has none.
export function indices(chunk: Chunk, name: string, components: number, limit: number,
                        what: string): Uint32Array | null {
  const array = chunk.get(name);
  if (!array) return null;
  if (!(array.data instanceof Int32Array) || array.components !== components)
    throw new Error(`${what}: array '${name}' is not i32 × ${components}`);
  const data = array.data;
  // Negative numbers become huge ones, so that one comparison finds both kinds of bad number.
  const unsigned = new Uint32Array(data.buffer as ArrayBuffer, data.byteOffset, data.length);
  for (let i = 0; i < unsigned.length; ++i)
    if (unsigned[i]! >= limit)
      throw new Error(`${what}: array '${name}' names ${data[i]}, but there are only ${limit}`);
  return unsigned;
}
