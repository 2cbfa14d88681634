// The numbers behind the colours: a map of the frame or the distance to another exhibit, and the range of the colours.
import type { Actor } from "./actor";
import type { ViewOptions } from "./options";

/// What a legend needs to know.
export interface Coloured {
  name: string;
  unit: string;
  low: number;
  high: number;
  diverging: boolean;
  values: Float32Array;
}

const SMALLEST_RANGE = 1e-3;

/// Keeps the numbers per vertex of the main exhibit up to date.
export class Colouring {
  current: Coloured | null = null;
  private distances = new Float32Array(0);
  private grown: { of: string; low: number; high: number } | null = null;

  /// Makes the automatic range that of the next frame alone.
  forgetRange(): void {
    this.grown = null;
  }

  /// Recomputes for what is on stage, and colours the main skin. The automatic range grows with the frames seen.
  update(options: ViewOptions, main: Actor, other: Actor | null): void {
    const values = this.valuesFor(options.colour, main, other);
    if (!values) {
      this.current = null;
      return;
    }
    const { low, high, diverging } = this.rangeFor(options, main.exhibit, values);
    const name = options.colour.replace(/^map\//, "");
    this.current = { name, unit: options.colour === "distance" ? "m" : "", low, high, diverging, values };
    main.skin.setValues(values, low, high, diverging);
  }

  private valuesFor(colour: string, main: Actor, other: Actor | null): Float32Array | null {
    if (colour.startsWith("map/")) return main.frame?.maps.get(colour.slice(4)) ?? null;
    if (colour !== "distance" || !other || !main.frame || !other.frame) return null;
    const a = main.skin.positions;
    const b = other.skin.positions;
    if (a.length !== b.length) return null;
    if (this.distances.length !== a.length / 3) this.distances = new Float32Array(a.length / 3);
    for (let v = 0; v < this.distances.length; ++v)
      this.distances[v] = Math.hypot(a[3 * v]! - b[3 * v]!, a[3 * v + 1]! - b[3 * v + 1]!, a[3 * v + 2]! - b[3 * v + 2]!);
    return this.distances;
  }

  private rangeFor(options: ViewOptions, exhibit: number, values: Float32Array): { low: number; high: number; diverging: boolean } {
    if (options.range) {
      const [low, high] = options.range;
      return { low, high, diverging: low < 0 && high > 0 };
    }
    const of = `${options.colour} ${exhibit} ${options.other}`;
    if (this.grown?.of !== of) this.grown = { of, low: Infinity, high: -Infinity };
    const { grown } = this;
    for (const value of values) {
      if (value < grown.low && value > -Infinity) grown.low = value;
      if (value > grown.high && value < Infinity) grown.high = value;
    }
    if (grown.low > grown.high) return { low: 0, high: 1, diverging: false };
    if (grown.low < 0 && grown.high > 0) {
      const most = Math.max(-grown.low, grown.high);
      return { low: -most, high: most, diverging: true };
    }
    // Magnitudes start at zero, unless they are all far from it.
    const low = options.colour === "distance" || (grown.low >= 0 && grown.low < 0.5 * grown.high) ? 0 : grown.low;
    const high = grown.high > low ? grown.high : low + Math.max(SMALLEST_RANGE, SMALLEST_RANGE * Math.abs(low));
    return { low, high, diverging: false };
  }
}
