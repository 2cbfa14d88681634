// Draws one graph with its cursor on a canvas.
import { make } from "./dom";
import { type Axis, type Curve, type Graph, axisFor, onAxis } from "./graph_data";
import { formatNumber, formatQuantity, unitFor } from "./units";

/// What a graph is drawn with.
export interface GraphScene {
  graph: Graph;
  /// Curves of the other exhibit, thin and dashed; empty without one.
  others: Curve[];
  first: number;
  last: number;
  cursor: number;
  hover: number | null;
}

/// Colours for the layers of stacked graphs, as CSS variables.
const LAYERS = 6;
const MARGIN = { left: 48, right: 6, top: 8, bottom: 6 };

/// A graph on the page.
export class GraphCanvas {
  readonly element: HTMLElement;
  readonly canvas = make("canvas", "", { "aria-hidden": "true" });
  private readonly value = make("span", "graph-value");
  private readonly high = make("span", "graph-high");
  private readonly low = make("span", "graph-low");

  constructor(readonly title: string) {
    this.element = make("figure", "graph", { "aria-label": title },
      make("figcaption", "", {}, make("span", "", {}, title), this.value),
      make("div", "graph-area", {}, this.canvas, this.high, this.low));
  }

  /// Number of the frame under a place on the screen.
  frameAt(clientX: number, first: number, last: number): number {
    const box = this.canvas.getBoundingClientRect();
    const share = (clientX - box.left - MARGIN.left) / Math.max(1, box.width - MARGIN.left - MARGIN.right);
    return Math.round(first + Math.min(1, Math.max(0, share)) * (last - first));
  }

  draw(scene: GraphScene): void {
    const { graph, others } = scene;
    const ratio = Math.min(window.devicePixelRatio, 2);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);

    const layers = graph.stacked ? stack(graph.curves) : graph.curves.map(({ values }) => values);
    const top = layers.at(-1) ?? [];
    const axis = axisFor([...top, ...(graph.stacked ? [] : others.flatMap(({ values }) => values))], graph.stacked);
    const style = getComputedStyle(this.canvas);
    const x = (frame: number): number =>
      MARGIN.left + (scene.last > scene.first ? (frame - scene.first) / (scene.last - scene.first) : 0.5) * (width - MARGIN.left - MARGIN.right);
    const y = (value: number): number => height - MARGIN.bottom - onAxis(value, axis) * (height - MARGIN.top - MARGIN.bottom);
    const pen: Pen = { context, x, y, style };
    baseLine(pen, width);
    if (graph.stacked) fillLayers(pen, graph.curves[0]?.frames ?? [], layers, axis);
    else {
      for (const curve of others) line(pen, curve.frames, curve.values, "--text-3", 1, [3, 3]);
      for (const curve of graph.curves) line(pen, curve.frames, curve.values, "--accent", 1.75, []);
    }
    upright(pen, scene.cursor, height, "--text-1", 1);
    if (scene.hover !== null && scene.hover !== scene.cursor) upright(pen, scene.hover, height, "--text-3", 1);
    if (!graph.stacked) dot(pen, graph.curves[0], scene.hover ?? scene.cursor);
    this.label(scene, axis);
  }

  private label({ graph, hover, cursor }: GraphScene, axis: Axis): void {
    const frame = hover ?? cursor;
    const [bottom, top] = [axis.ticks[0] ?? 0, axis.ticks.at(-1) ?? 0];
    const unit = unitFor(graph.unit, Math.max(Math.abs(bottom), Math.abs(top)));
    this.high.textContent = top === bottom ? "" : `${formatNumber(top * unit.perBase)} ${unit.name}`.trim();
    this.low.textContent = formatNumber(bottom * unit.perBase);
    const parts = graph.curves.map(({ name, frames, values }) => ({ name: name.replace(/^time\//, ""), value: values[frames.indexOf(frame)] }));
    const known = parts.filter((part): part is { name: string; value: number } => part.value !== undefined);
    const total = known.reduce((sum, { value }) => sum + value, 0);
    const words = known.length === 0 ? "–" : formatQuantity(total, graph.unit);
    this.value.textContent = hover === null ? words : `${words} at ${frame}`;
    this.element.title = graph.stacked ? known.map(({ name, value }) => `${name} ${formatQuantity(value, graph.unit)}`).join("\n") : "";
  }
}

interface Pen {
  context: CanvasRenderingContext2D;
  x(frame: number): number;
  y(value: number): number;
  style: CSSStyleDeclaration;
}

/// Sums of the curves up to each one.
function stack(curves: Curve[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of curves) {
    const below = sums.at(-1);
    sums.push(values.map((value, i) => value + (below?.[i] ?? 0)));
  }
  return sums;
}

function baseLine({ context, style }: Pen, width: number): void {
  context.strokeStyle = style.getPropertyValue("--line");
  context.lineWidth = 1;
  context.beginPath();
  const at = context.canvas.height / context.getTransform().d - MARGIN.bottom + 0.5;
  context.moveTo(MARGIN.left, at);
  context.lineTo(width - MARGIN.right, at);
  context.stroke();
}

function line({ context, x, y, style }: Pen, frames: number[], values: number[], colour: string, width: number, dash: number[]): void {
  context.strokeStyle = style.getPropertyValue(colour);
  context.lineWidth = width;
  context.lineJoin = "round";
  context.setLineDash(dash);
  context.beginPath();
  values.forEach((value, i) => context.lineTo(x(frames[i]!), y(value)));
  context.stroke();
  context.setLineDash([]);
}

function fillLayers({ context, x, y, style }: Pen, frames: number[], layers: number[][], axis: Axis): void {
  // From the back: the highest sum first, so that every layer covers what lies under it.
  for (let layer = layers.length - 1; layer >= 0; --layer) {
    context.fillStyle = style.getPropertyValue(`--layer-${layer % LAYERS}`);
    context.beginPath();
    context.moveTo(x(frames[0] ?? 0), y(axis.low));
    layers[layer]!.forEach((value, i) => context.lineTo(x(frames[i]!), y(value)));
    context.lineTo(x(frames.at(-1) ?? 0), y(axis.low));
    context.fill();
  }
}

function upright({ context, x, style }: Pen, frame: number, height: number, colour: string, width: number): void {
  context.strokeStyle = style.getPropertyValue(colour);
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(Math.round(x(frame)) + 0.5, 2);
  context.lineTo(Math.round(x(frame)) + 0.5, height - MARGIN.bottom);
  context.stroke();
}

function dot({ context, x, y, style }: Pen, curve: Curve | undefined, frame: number): void {
  const value = curve?.values[curve.frames.indexOf(frame)];
  if (value === undefined) return;
  context.fillStyle = style.getPropertyValue("--accent");
  context.strokeStyle = style.getPropertyValue("--panel-solid");
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x(frame), y(value), 4, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}
