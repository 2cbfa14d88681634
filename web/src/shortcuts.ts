// What every key does.
import type { Shortcut } from "./keyboard";
import { COMPARE_MODES, type ViewOptions } from "./options";
import type { Page } from "./page";
import { SPEEDS } from "./transport";

type Switch = "wireframe" | "bones" | "mesh" | "colliders" | "skin" | "ground" | "loop" | "interface";

/// The shortcuts of a page.
export function shortcutsFor(page: Page): Shortcut[] {
  const { viewer } = page;
  const { options } = viewer;
  const set = (change: Partial<ViewOptions>): void => page.set(change);
  const flip = (key: string, option: Switch, what: string, group: string): Shortcut =>
    ({ keys: [key.toLowerCase()], text: key, what, group, act: () => set({ [option]: !options[option] }) });
  const key = (keys: string[], text: string, what: string, group: string, act: (event: KeyboardEvent) => void): Shortcut =>
    ({ keys, text, what, group, act });
  return [
    key([" "], "Space", "play or pause", "Playback", () => viewer.toggle()),
    key(["ArrowLeft", ","], "←", "one frame back (Shift: ten)", "Playback", (event) => page.transport.step(event.shiftKey ? -10 : -1)),
    key(["ArrowRight", "."], "→", "one frame on (Shift: ten)", "Playback", (event) => page.transport.step(event.shiftKey ? 10 : 1)),
    key(["Home"], "Home", "first frame", "Playback", () => viewer.goTo(-Infinity)),
    key(["End"], "End", "last frame", "Playback", () => viewer.goTo(Infinity)),
    key(["[", "]"], "[ ]", "slower, faster", "Playback", (event) => set({ speed: nextSpeed(options.speed, event.key === "]") })),
    flip("L", "loop", "loop", "Playback"),
    key(["n"], "N", "follow the newest frame of a run", "Playback", () => {
      viewer.follow = !viewer.follow;
      viewer.touch();
    }),
    key(["f"], "F", "frame the object", "Camera", () => viewer.framing.frameNow()),
    key(["1", "2", "3", "4", "5", "6"], "1 … 6", "¾, front, left, back, right, top", "Camera", (event) => page.flyTo(Number(event.key))),
    key(["s"], "S", "smooth or flat", "Surface", () => set({ shading: options.shading === "smooth" ? "flat" : "smooth" })),
    flip("K", "skin", "skin", "Surface"),
    flip("W", "wireframe", "wireframe", "Surface"),
    flip("G", "ground", "ground", "Surface"),
    key(["v"], "V", "next colour map", "Surface", () => set({ colour: nextColour(page), range: null })),
    flip("B", "bones", "bones", "Overlays"),
    flip("M", "mesh", "simulation mesh", "Overlays"),
    flip("C", "colliders", "colliders", "Overlays"),
    key(["o"], "O", "compare: off, side by side, overlay", "Compare",
      () => set({ compare: COMPARE_MODES[(COMPARE_MODES.indexOf(options.compare) + 1) % COMPARE_MODES.length]! })),
    key(["x"], "X", "swap the two", "Compare", () => page.panel.swap()),
    key(["e"], "E", "choose an exhibit", "Page", () => page.top.toggleList()),
    key(["p"], "P", "view settings", "Page", () => page.togglePanel()),
    key(["r"], "R", "graphs", "Page", () => page.toggleGraphs()),
    key(["t"], "T", "theme: dark, light, auto", "Page", () => page.cycleTheme()),
    flip("H", "interface", "hide everything but the stage", "Page"),
    key(["?", "/"], "?", "this list", "Page", () => page.toggleHelp()),
    key(["Escape"], "Esc", "close what is open", "Page", () => {
      if (!page.top.closeList() && !options.interface) set({ interface: true });
    }),
  ];
}

function nextSpeed(speed: number, faster: boolean): number {
  const at = SPEEDS.findIndex((value) => value >= speed);
  return SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + (faster ? 1 : -1)))]!;
}

function nextColour(page: Page): string {
  const { options, library } = page.viewer;
  const main = library.exhibits[options.exhibit];
  const colours = ["surface", "part", ...(main?.maps ?? []).map((name) => `map/${name}`)];
  return colours[(colours.indexOf(options.colour) + 1) % colours.length]!;
}
