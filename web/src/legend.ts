// What the colours mean: a colour bar with its ends, or the names of the parts.
import { DIVERGING, SEQUENTIAL, cssColour, cssGradient, partColour } from "./colour_maps";
import { make, setText } from "./dom";
import { colourText } from "./side_panel";
import { formatNumber, unitFor } from "./units";
import type { Viewer } from "./viewer";

const MOST_PARTS = 14;

/// Builds and updates the legend.
export class Legend {
  readonly element = make("div", "panel legend", { role: "img", hidden: true });
  private readonly title = make("div", "legend-title");
  private readonly bar = make("div", "legend-bar");
  private readonly ticks = [0, 1, 2].map(() => make("span"));
  private readonly scale = make("div", "legend-scale", {}, this.bar, make("div", "legend-ticks", {}, ...this.ticks));
  private readonly parts = make("ul", "legend-parts");
  private listed = -1;

  constructor(private readonly viewer: Viewer) {
    this.element.append(this.title, this.scale, this.parts);
  }

  update(): void {
    const { colouring, options, cast } = this.viewer;
    const { current } = colouring;
    const parts = options.colour === "part" && cast.main !== null;
    this.element.hidden = current === null && !parts;
    this.scale.hidden = current === null;
    this.parts.hidden = !parts;
    if (parts) this.showParts();
    if (!current) return;
    const unit = unitFor(current.unit, Math.max(Math.abs(current.low), Math.abs(current.high)));
    const title = options.colour === "distance" ? "Distance" : colourText(options.colour);
    setText(this.title, unit.name ? `${title} (${unit.name})` : title);
    this.bar.style.background = cssGradient(current.diverging ? DIVERGING : SEQUENTIAL, "to right");
    const ends = [current.low, (current.low + current.high) / 2, current.high].map((value) => formatNumber(value * unit.perBase));
    this.ticks.forEach((tick, i) => setText(tick, ends[i]!));
    this.element.setAttribute("aria-label", `${title} from ${ends[0]} to ${ends[2]} ${unit.name}`);
  }

  private showParts(): void {
    const { info, exhibit } = this.viewer.cast.main!;
    setText(this.title, "Parts");
    if (this.listed === exhibit) return;
    this.listed = exhibit;
    // A material that all parts have tells nothing.
    const materials = new Set(info.parts.map(({ material }) => material)).size > 1;
    const items = info.parts.slice(0, MOST_PARTS).map(({ name, material }, i) => {
      const swatch = make("i");
      swatch.style.background = cssColour(partColour(i));
      return make("li", "", {}, swatch, materials && material && material !== name ? `${name} · ${material}` : name);
    });
    if (info.parts.length > MOST_PARTS) items.push(make("li", "more", {}, `and ${info.parts.length - MOST_PARTS} more`));
    this.parts.replaceChildren(...items);
    this.element.setAttribute("aria-label", "Colours of the parts");
  }
}
