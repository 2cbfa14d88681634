// Dark and light: the colours of the stage, which are the same on the page and in pictures.
import { Color } from "three";
import type { LineColours } from "./actor";
import type { Theme } from "./options";

/// A theme as it is shown: "auto" has been decided.
export type Shown = "dark" | "light";

/// Colours of the backdrop, from the middle to the corners.
export const BACKDROPS: Readonly<Record<Shown, [string, string]>> = {
  dark: ["#34373d", "#17181b"],
  light: ["#f7f7f5", "#d5d8dd"],
};

/// Where the middle of the backdrop is, as a share of width and height.
export const BACKDROP_CENTRE: readonly [number, number] = [0.5, 0.42];

/// Colours of lines on the stage.
export const LINE_COLOURS: Readonly<Record<Shown, LineColours>> = {
  dark: { wire: new Color(0x14161a), mesh: new Color(0x4fd0c2) },
  light: { wire: new Color(0x2a2f38), mesh: new Color(0x0b8a80) },
};

const darkness = window.matchMedia("(prefers-color-scheme: dark)");

/// What a theme is at the moment.
export function shownTheme(theme: Theme): Shown {
  if (theme !== "auto") return theme;
  return darkness.matches ? "dark" : "light";
}

/// Calls `changed` when the system switches between dark and light.
export function onSystemTheme(changed: () => void): void {
  darkness.addEventListener("change", changed);
}

/// The backdrop as CSS text; `background` as in the options.
export function backdropCss(shown: Shown, background: string | null): string {
  if (background !== null) return background;
  const [inner, outer] = BACKDROPS[shown];
  return `radial-gradient(farthest-corner at ${100 * BACKDROP_CENTRE[0]}% ${100 * BACKDROP_CENTRE[1]}%, ${inner}, ${outer})`;
}

/// Paints the backdrop of a picture.
export function paintBackdrop(context: CanvasRenderingContext2D, width: number, height: number, shown: Shown,
                              background: string | null): void {
  if (background === "transparent") return;
  if (background !== null) {
    context.fillStyle = background;
    context.fillRect(0, 0, width, height);
    return;
  }
  // The ellipse of CSS's farthest-corner: shaped like the one to the farthest sides, but through the corner.
  const [cx, cy] = BACKDROP_CENTRE;
  const rx = Math.SQRT2 * Math.max(cx, 1 - cx) * width;
  const ry = Math.SQRT2 * Math.max(cy, 1 - cy) * height;
  const gradient = context.createRadialGradient(0, 0, 0, 0, 0, 1);
  BACKDROPS[shown].forEach((colour, i) => gradient.addColorStop(i, colour));
  context.save();
  context.translate(cx * width, cy * height);
  context.scale(rx, ry);
  context.fillStyle = gradient;
  context.fillRect(-1, -1, 2, 2);
  context.restore();
}
