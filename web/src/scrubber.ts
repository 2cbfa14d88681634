// The bar to move through time with: what is buffered, what a run still owes, and the frame on screen.
import { make } from "./dom";
import type { Viewer } from "./viewer";

/// A slider over the frames of an exhibit.
export class Scrubber {
  readonly element = make("div", "scrubber", {
    role: "slider", tabindex: "0", "aria-label": "Frame", "aria-orientation": "horizontal",
  });
  private readonly canvas = make("canvas", "", { "aria-hidden": "true" });
  private readonly thumb = make("div", "thumb");
  private readonly bubble = make("div", "bubble", { "aria-hidden": "true", hidden: true });

  constructor(private readonly viewer: Viewer) {
    this.element.append(this.canvas, this.thumb, this.bubble);
    this.element.addEventListener("pointerdown", (event) => this.grab(event));
    this.element.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"] as const) this.element.addEventListener(name, () => this.release());
    this.element.addEventListener("pointerleave", () => (this.bubble.hidden = !viewer.scrubbing));
  }

  update(): void {
    const { viewer } = this;
    const { first, last } = this.whole();
    const frame = viewer.shown ?? viewer.player.frame;
    this.element.setAttribute("aria-valuemin", String(first));
    this.element.setAttribute("aria-valuemax", String(last));
    this.element.setAttribute("aria-valuenow", String(frame));
    this.thumb.style.left = `${100 * this.share(frame)}%`;
    this.paint();
  }

  private whole(): { first: number; last: number } {
    return this.viewer.library.exhibits[this.viewer.options.exhibit]?.frames ?? { first: 0, last: 0 };
  }

  private share(frame: number): number {
    const { first, last } = this.whole();
    return last > first ? Math.min(1, Math.max(0, (frame - first) / (last - first))) : 0;
  }

  private frameAt(event: PointerEvent): number {
    const { first, last } = this.whole();
    const box = this.canvas.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width)));
    return Math.round(first + share * (last - first));
  }

  private grab(event: PointerEvent): void {
    this.element.setPointerCapture(event.pointerId);
    this.viewer.scrubbing = true;
    this.viewer.goTo(this.frameAt(event));
  }

  private move(event: PointerEvent): void {
    const frame = this.frameAt(event);
    if (this.viewer.scrubbing) this.viewer.goTo(frame);
    this.bubble.hidden = false;
    this.bubble.textContent = String(frame);
    this.bubble.style.left = `${100 * this.share(frame)}%`;
  }

  private release(): void {
    this.viewer.scrubbing = false;
    this.viewer.touch();
  }

  /// Draws the bar in layers: all frames of the run, those that are there, those that are buffered, those played.
  private paint(): void {
    const ratio = Math.min(window.devicePixelRatio, 2);
    const width = Math.round(this.canvas.clientWidth * ratio);
    const height = Math.round(this.canvas.clientHeight * ratio);
    if (width === 0 || height === 0) return;
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d")!;
    const style = getComputedStyle(this.element);
    const { store } = this.viewer.stream;
    const { exhibit } = this.viewer.options;
    const { first, last } = this.whole();
    const bar = (from: number, to: number, colour: string): void => {
      context.fillStyle = style.getPropertyValue(colour);
      context.fillRect(Math.round(this.share(from) * width), 0, Math.max(1, Math.round((this.share(to) - this.share(from)) * width)), height);
    };
    context.clearRect(0, 0, width, height);
    bar(first, last, "--track");
    bar(first, this.viewer.range.last, "--track-there");
    for (let frame = first; frame <= last; ++frame) {
      if (!store.get(exhibit, frame)) continue;
      const start = frame;
      while (store.get(exhibit, frame + 1)) ++frame;
      bar(Math.max(first, start - 0.5), Math.min(last, frame + 0.5), "--track-buffered");
    }
    bar(first, this.viewer.shown ?? first, "--accent");
    for (let frame = first; frame <= last; ++frame)
      if (store.error(exhibit, frame) !== undefined) bar(frame - 0.4, frame + 0.4, "--danger");
  }
}
