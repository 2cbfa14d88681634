// The edges of cells, each once.

/// Pairs of numbers for all edges of cells with `corners` corners; `pattern` lists the edges of one cell as pairs of
/// corners. Every edge appears once.
export function uniqueEdges(cells: Uint32Array, corners: number, pattern: readonly number[]): Uint32Array<ArrayBuffer> {
  const perCell = pattern.length / 2;
  const count = cells.length / corners;
  // Both ends in one number: exact up to 2^53, that is for numbers below 94 million.
  const keys = new Float64Array(count * perCell);
  const STRIDE = 94906265;
  let k = 0;
  for (let c = 0; c < count; ++c)
    for (let e = 0; e < perCell; ++e) {
      const a = cells[c * corners + pattern[2 * e]!]!;
      const b = cells[c * corners + pattern[2 * e + 1]!]!;
      keys[k++] = a < b ? a * STRIDE + b : b * STRIDE + a;
    }
  keys.sort();
  const edges = new Uint32Array(2 * keys.length);
  let used = 0;
  for (let i = 0; i < keys.length; ++i) {
    const key = keys[i]!;
    if (i > 0 && key === keys[i - 1]) continue;
    edges[used++] = Math.floor(key / STRIDE);
    edges[used++] = key % STRIDE;
  }
  return edges.slice(0, used);
}
