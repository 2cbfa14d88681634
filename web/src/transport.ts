// Play, pause, step, scrub; frame number, time, loop, speed.
import { iconButton, make, setIcon, setText } from "./dom";
import { picker } from "./controls";
import type { ViewOptions } from "./options";
import { Scrubber } from "./scrubber";
import { formatClock } from "./units";
import type { Viewer } from "./viewer";

/// The speeds one can choose.
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

/// What the transport asks of the rest of the page.
export interface TransportActions {
  set(change: Partial<ViewOptions>): void;
  toggleGraphs(): void;
  graphsOpen(): boolean;
}

/// Builds and updates the bar at the bottom.
export class Transport {
  readonly element = make("div", "panel transport", { role: "group", "aria-label": "Playback" });
  private readonly play: HTMLButtonElement;
  private readonly loop: HTMLButtonElement;
  private readonly graphs: HTMLButtonElement;
  private readonly frame = make("input", "frame-field", { type: "text", inputmode: "numeric", "aria-label": "Frame number", title: "Type a frame number" });
  private readonly total = make("span", "frame-total");
  private readonly time = make("span", "clock", { title: "Time in the clip" });
  private readonly waiting = make("span", "waiting", { role: "status", title: "Waiting for frames" });
  private readonly scrubber: Scrubber;
  private readonly speed: ReturnType<typeof picker>;

  constructor(private readonly viewer: Viewer, private readonly actions: TransportActions) {
    this.scrubber = new Scrubber(viewer);
    this.play = iconButton("play", "Play", "Space", () => viewer.toggle(), "play");
    this.loop = iconButton("loop", "Loop", "L", () => actions.set({ loop: !viewer.options.loop }));
    this.graphs = iconButton("graph", "Graphs", "R", () => actions.toggleGraphs());
    this.speed = picker("Speed", () => SPEEDS.map((value) => ({ value: String(value), text: `${value}×` })),
      () => String(viewer.options.speed), (value) => actions.set({ speed: Number(value) }));
    this.speed.element.classList.add("speed");
    this.frame.addEventListener("keydown", (event) => this.typed(event));
    this.frame.addEventListener("focus", () => this.frame.select());
    this.frame.addEventListener("blur", () => this.commit());
    const step = (by: number) => () => this.step(by);
    this.element.append(
      make("div", "buttons", {},
        iconButton("first", "First frame", "Home", () => viewer.goTo(-Infinity), "edge"), iconButton("back", "One frame back", "←", step(-1)),
        this.play, iconButton("forward", "One frame on", "→", step(1)), iconButton("last", "Last frame", "End", () => viewer.goTo(Infinity), "edge")),
      make("div", "frame-box", {}, this.frame, this.total), this.scrubber.element,
      make("div", "after", {}, this.waiting, this.time, this.speed.element, this.loop, this.graphs));
  }

  /// Goes some frames on or back.
  step(by: number): void {
    this.viewer.goTo((this.viewer.shown ?? this.viewer.player.frame) + by);
  }

  update(): void {
    const { viewer } = this;
    const { player, options } = viewer;
    const info = viewer.library.exhibits[options.exhibit];
    const frame = viewer.shown ?? player.frame;
    setIcon(this.play, player.playing ? "pause" : "play");
    this.play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
    this.loop.setAttribute("aria-pressed", String(options.loop));
    this.graphs.setAttribute("aria-pressed", String(this.actions.graphsOpen()));
    if (document.activeElement !== this.frame) this.frame.value = String(frame);
    this.frame.style.width = `${Math.max(2, String(info?.frames.last ?? 0).length) + 1.6}ch`;
    setText(this.total, `/ ${info?.frames.last ?? 0}`);
    const rate = info?.frames.rate ?? 24;
    setText(this.time, formatClock((frame - (info?.frames.first ?? 0)) / rate));
    this.waiting.classList.toggle("on", player.stalled || (!player.playing && viewer.shown !== player.frame && viewer.error === null));
    this.element.classList.toggle("still", (info?.frames.last ?? 0) === (info?.frames.first ?? 0));
    this.speed.update();
    this.scrubber.update();
  }

  private typed(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Enter") this.frame.blur();
    if (event.key === "Escape") {
      this.frame.value = "";
      this.frame.blur();
    }
  }

  private commit(): void {
    const number = Number(this.frame.value.replace("−", "-"));
    if (this.frame.value.trim() !== "" && Number.isFinite(number) && number !== this.viewer.shown) this.viewer.goTo(number);
    this.viewer.touch();
  }
}
