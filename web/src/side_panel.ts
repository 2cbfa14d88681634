// The panel of view settings.
import { type Control, numberField, picker, segments, switchRow } from "./controls";
import { iconButton, make } from "./dom";
import { type CameraName, type CompareMode, type Shading, type ViewOptions } from "./options";
import { exhibitName } from "./top_bar";
import { unitFor } from "./units";
import type { Viewer } from "./viewer";

const CAMERAS: readonly (readonly [CameraName, string, string])[] = [
  ["quarter", "¾", "Three-quarter view (1)"], ["front", "Front", "Front (2)"], ["left", "Left", "Left (3)"],
  ["back", "Back", "Back (4)"], ["right", "Right", "Right (5)"], ["top", "Top", "Top (6)"],
];

/// Text of a colour choice.
export function colourText(colour: string): string {
  if (colour === "surface") return "Surface";
  if (colour === "part") return "Parts";
  if (colour === "distance") return "Distance to the other";
  const name = colour.replace(/^map\//, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/// Builds and updates the panel.
export class SidePanel {
  readonly element = make("aside", "panel side-panel", { "aria-label": "View settings" });
  private readonly controls: Control[] = [];
  private readonly compareSection: HTMLElement;
  private readonly rangeRow = make("div", "range-row");
  private readonly rangeUnit = make("span", "range-unit");

  /// `set` changes options and reports what goes wrong.
  constructor(private readonly viewer: Viewer, private readonly set: (change: Partial<ViewOptions>) => void) {
    const cameras = segments("Camera", CAMERAS, () => null, (name) => this.flyTo(name));
    const frame = iconButton("frame", "Frame the object", "F", () => viewer.framing.frameNow());
    this.section("Camera", [frame], this.use(cameras));
    const { options } = viewer;
    this.section("Surface", [],
      this.use(segments<Shading>("Shading", [["smooth", "Smooth", "Smooth shading (S)"], ["flat", "Flat", "Flat shading (S)"]],
        () => options.shading, (shading) => set({ shading }))),
      this.toggle("Skin", "K", "skin"), this.toggle("Wireframe", "W", "wireframe"), this.toggle("Ground", "G", "ground"));
    const hint = (kind: "bones" | "mesh" | "colliders", what: string) => (): string | null =>
      viewer.cast.actors.some(({ present }) => present[kind]) ? null : `There are no ${what} to show here`;
    this.section("Overlays", [],
      this.toggle("Bones", "B", "bones", hint("bones", "bones")),
      this.toggle("Simulation mesh", "M", "mesh", hint("mesh", "simulation meshes")),
      this.toggle("Colliders", "C", "colliders", hint("colliders", "colliders")));
    this.section("Colour", [], this.use(this.colourPicker()), this.rangeRow);
    this.makeRange();
    const swap = iconButton("swap", "Swap the two", "X", () => this.swap());
    this.compareSection = this.section("Compare", [swap], this.use(this.otherPicker()),
      this.use(segments<CompareMode>("Compare", [["off", "Off"], ["side", "Side by side"], ["overlay", "Overlay"]],
        () => options.compare, (compare) => set({ compare }))));
  }

  /// Exchanges the main exhibit and the one it is compared with.
  swap(): void {
    const { exhibit, other } = this.viewer.options;
    if (other !== null) this.set({ exhibit: other, other: exhibit });
  }

  /// Flies to a named view.
  flyTo(name: CameraName): void {
    this.viewer.options.camera = name;
    this.viewer.rig.go(name, true);
    this.viewer.touch();
  }

  update(): void {
    for (const control of this.controls) control.update();
    const { colouring, library } = this.viewer;
    this.rangeRow.hidden = colouring.current === null;
    this.compareSection.hidden = library.exhibits.length < 2;
    this.rangeUnit.textContent = this.rangeScale().name;
  }

  private section(title: string, buttons: HTMLElement[], ...content: HTMLElement[]): HTMLElement {
    const section = make("section", "", { "aria-label": title },
      make("div", "section-head", {}, make("h2", "", {}, title), ...buttons), ...content);
    this.element.append(section);
    return section;
  }

  private use(control: Control): HTMLElement {
    this.controls.push(control);
    return control.element;
  }

  private toggle(label: string, key: string, option: "skin" | "wireframe" | "ground" | "bones" | "mesh" | "colliders",
                 hint?: () => string | null): HTMLElement {
    const { options } = this.viewer;
    return this.use(switchRow(label, key, () => options[option], (on) => this.set({ [option]: on }), hint));
  }

  private colourPicker(): Control {
    const { viewer } = this;
    const choices = () => {
      const { exhibits } = viewer.library;
      const main = exhibits[viewer.options.exhibit];
      const other = exhibits.some((info, i) => i !== viewer.options.exhibit && info.error === null && info.vertices === main?.vertices);
      return ["surface", "part", ...(main?.maps ?? []).map((name) => `map/${name}`), ...(other ? ["distance"] : [])]
        .map((value) => ({ value, text: colourText(value) }));
    };
    return picker("Colour", choices, () => viewer.options.colour, (colour) => this.set({ colour, range: null }));
  }

  private otherPicker(): Control {
    const { viewer } = this;
    const choices = () => {
      const list = viewer.library.exhibits.map((info, i) => ({
        value: String(i), text: exhibitName(info) + (info.kind === "cache" && info.body ? ` (${info.body})` : ""), disabled: info.error !== null,
      })).filter(({ value }) => Number(value) !== viewer.options.exhibit);
      return [{ value: "", text: "Nothing chosen" }, ...list];
    };
    return picker("Compare with", choices, () => String(viewer.options.other ?? ""), (value) => {
      if (value === "") this.set({ other: null, compare: "off", ...(viewer.options.colour === "distance" ? { colour: "surface" } : {}) });
      else this.set({ other: Number(value), ...(viewer.options.compare === "off" ? { compare: "side" as const } : {}) });
    });
  }

  private rangeScale(): { name: string; perBase: number } {
    const { current } = this.viewer.colouring;
    return unitFor(current?.unit ?? "", Math.max(Math.abs(current?.low ?? 0), Math.abs(current?.high ?? 0)));
  }

  private makeRange(): void {
    const field = (label: string, end: 0 | 1): HTMLElement => this.use(numberField(label,
      () => {
        const { current } = this.viewer.colouring;
        return current ? (end === 0 ? current.low : current.high) * this.rangeScale().perBase : null;
      },
      (value) => {
        const { current } = this.viewer.colouring;
        if (!current || value === null) return this.set({ range: null });
        const range: [number, number] = [current.low, current.high];
        range[end] = value / this.rangeScale().perBase;
        this.set({ range });
      }));
    const auto = make("button", "text-button", { type: "button", title: "Let the range follow the values" }, "Auto");
    auto.addEventListener("click", () => this.set({ range: null }));
    this.rangeRow.append(field("Smallest value", 0), make("span", "", {}, "to"), field("Largest value", 1), this.rangeUnit, auto);
  }
}
