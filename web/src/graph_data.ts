// The curves of a run, from its report.
import type { FrameReport } from "./protocol";

/// One curve: a number per frame, in SI units.
export interface Curve {
  name: string;
  unit: string;
  frames: number[];
  values: number[];
}

/// A graph: curves that share axes; stacked ones are drawn on top of each other.
export interface Graph {
  title: string;
  unit: string;
  stacked: boolean;
  curves: Curve[];
}

/// The graphs of a run: volume, residual, iterations, and the time of every stage.
export function graphsOf(report: FrameReport[]): Graph[] {
  const frames = report.map(({ frame }) => frame);
  const curve = (name: string, unit: string, value: (frame: FrameReport) => number): Curve =>
    ({ name, unit, frames, values: report.map(value) });
  const single = (title: string, name: string, unit: string, value: (frame: FrameReport) => number): Graph =>
    ({ title, unit, stacked: false, curves: [curve(name, unit, value)] });
  const stages = [...new Set(report.flatMap(({ stages: times }) => Object.keys(times)))];
  return [
    single("Volume", "volume", "m³", ({ volume }) => volume),
    single("Residual", "residual", "", ({ residual }) => residual),
    single("Iterations", "iterations", "", ({ iterations }) => iterations),
    { title: "Time per frame", unit: "s", stacked: true, curves: stages.map((stage) => curve(`time/${stage}`, "s", ({ stages: times }) => times[stage] ?? 0)) },
  ];
}

/// A vertical axis: its ends, where its marks are, and whether it is logarithmic.
export interface Axis {
  low: number;
  high: number;
  ticks: number[];
  logarithmic: boolean;
}

/// The axis for some values: logarithmic when they are positive and span more than two powers of ten.
export function axisFor(values: number[], fromZero: boolean): Axis {
  const finite = values.filter(Number.isFinite);
  const largest = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const smallest = finite.reduce((a, b) => Math.min(a, b), Infinity);
  if (finite.length === 0) return { low: 0, high: 1, ticks: [0, 1], logarithmic: false };
  if (!fromZero && smallest > 0 && largest / smallest > 100) {
    const low = 10 ** Math.floor(Math.log10(smallest));
    const high = 10 ** Math.ceil(Math.log10(largest));
    return { low, high, ticks: [low, high], logarithmic: true };
  }
  const low = fromZero || (smallest >= 0 && smallest < 0.3 * largest) ? Math.min(0, smallest) : smallest;
  if (largest === low) return { low: low === 0 ? 0 : low - Math.abs(low) * 0.05, high: low === 0 ? 1 : low + Math.abs(low) * 0.05, ticks: [low], logarithmic: false };
  const pad = low === 0 ? 0 : 0.06 * (largest - low);
  return { low: low - pad, high: largest + 0.06 * (largest - low), ticks: [low, largest], logarithmic: false };
}

/// Where a value lies on an axis, 0 at its low end and 1 at its high end.
export function onAxis(value: number, axis: Axis): number {
  if (!axis.logarithmic) return (value - axis.low) / (axis.high - axis.low);
  const at = Math.max(value, axis.low);
  return Math.log(at / axis.low) / Math.log(axis.high / axis.low);
}
