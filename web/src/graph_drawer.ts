// The drawer with the graphs of a run, linked to the scrubber: hovering shows numbers, clicking and dragging seeks.
import { make } from "./dom";
import { GraphCanvas } from "./graph_canvas";
import { type Curve, type Graph, graphsOf } from "./graph_data";
import type { FrameReport } from "./protocol";
import type { Viewer } from "./viewer";

const TITLES = ["Volume", "Residual", "Iterations", "Time per frame"];

/// Builds and updates the drawer.
export class GraphDrawer {
  readonly element = make("div", "panel graphs", { "aria-label": "Graphs", role: "region", hidden: true });
  private readonly canvases = TITLES.map((title) => new GraphCanvas(title));
  private readonly empty = make("p", "graphs-empty", {}, "There is no report of a run to draw.");
  private readonly key = make("div", "graph-key");
  private hover: number | null = null;
  private made: { report: FrameReport[]; length: number; graphs: Graph[] } | null = null;
  private drawn = "";

  constructor(private readonly viewer: Viewer) {
    this.element.append(this.empty);
    for (const graph of this.canvases) {
      const { canvas } = graph;
      this.element.append(graph.element);
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        viewer.scrubbing = true;
        this.seek(graph, event);
      });
      canvas.addEventListener("pointermove", (event) => this.move(graph, event));
      for (const name of ["pointerup", "pointercancel"] as const) canvas.addEventListener(name, () => this.release());
      canvas.addEventListener("pointerleave", () => this.point(null));
    }
    this.canvases.at(-1)!.element.append(this.key);
  }

  /// The curves of the main exhibit as they are drawn, then those of the other one as `other/NAME`.
  curves(): Curve[] {
    const { other } = this.viewer.cast;
    const others = other ? graphsOf(this.viewer.library.report(other.exhibit)) : [];
    return [
      ...this.graphs().flatMap(({ curves }) => curves),
      ...others.flatMap(({ curves }) => curves.map((curve) => ({ ...curve, name: `other/${curve.name}` }))),
    ].filter(({ values }) => values.length > 0);
  }

  update(): void {
    if (this.element.hidden) return;
    const { viewer } = this;
    const graphs = this.graphs();
    const { other } = viewer.cast;
    const others = other ? graphsOf(viewer.library.report(other.exhibit)) : [];
    const any = graphs.some(({ curves }) => curves.some(({ values }) => values.length > 0));
    this.empty.hidden = any;
    this.element.classList.toggle("none", !any);
    const frames = viewer.library.exhibits[viewer.options.exhibit]?.frames ?? { first: 0, last: 1 };
    const cursor = viewer.shown ?? viewer.player.frame;
    const first = this.canvases[0]!.canvas;
    const state = [viewer.options.exhibit, viewer.options.other, this.made?.length, cursor, this.hover, first.clientWidth, first.clientHeight,
                   viewer.options.theme, document.documentElement.dataset["theme"], others[0]?.curves[0]?.values.length].join();
    if (state === this.drawn) return;
    this.drawn = state;
    this.canvases.forEach((canvas, i) => {
      const graph = graphs[i]!;
      canvas.draw({ graph, others: others[i]?.curves ?? [], ...frames, cursor, hover: this.hover });
    });
    this.showKey(graphs.at(-1)!);
  }

  private graphs(): Graph[] {
    const report = this.viewer.library.report(this.viewer.options.exhibit);
    if (this.made?.report !== report || this.made.length !== report.length)
      this.made = { report, length: report.length, graphs: graphsOf(report) };
    return this.made.graphs;
  }

  private showKey(graph: Graph): void {
    const names = graph.curves.map(({ name }) => name.replace(/^time\//, ""));
    if (this.key.dataset["names"] === names.join()) return;
    this.key.dataset["names"] = names.join();
    this.key.replaceChildren(...names.map((name, i) => {
      const swatch = make("i");
      swatch.style.background = `var(--layer-${i % 6})`;
      return make("span", "", {}, swatch, name);
    }));
  }

  private move(graph: GraphCanvas, event: PointerEvent): void {
    const { first, last } = this.frames();
    this.point(graph.frameAt(event.clientX, first, last));
    if (this.viewer.scrubbing) this.seek(graph, event);
  }

  private seek(graph: GraphCanvas, event: PointerEvent): void {
    const { first, last } = this.frames();
    this.viewer.goTo(graph.frameAt(event.clientX, first, last));
  }

  private point(frame: number | null): void {
    this.hover = frame;
    this.viewer.touch();
  }

  private release(): void {
    this.viewer.scrubbing = false;
    this.viewer.touch();
  }

  private frames(): { first: number; last: number } {
    return this.viewer.library.exhibits[this.viewer.options.exhibit]?.frames ?? { first: 0, last: 1 };
  }
}
