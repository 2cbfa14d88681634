// What a user can choose about the view, and the check of choices that come from outside.
import type { ExhibitInfo } from "./protocol";

/// Direction and size of the view. Azimuth 0 looks at the front (+Z side), positive turns the camera towards +X;
/// angles in degrees; at zoom 1 the character just fits.
export interface CameraView {
  azimuth: number;
  elevation: number;
  zoom: number;
}

export const CAMERA_NAMES = ["front", "back", "left", "right", "top", "quarter"] as const;
export type CameraName = (typeof CAMERA_NAMES)[number];

export const COMPARE_MODES = ["off", "side", "overlay"] as const;
export const SHADINGS = ["smooth", "flat"] as const;
export const THEMES = ["dark", "light", "auto"] as const;
export type CompareMode = (typeof COMPARE_MODES)[number];
export type Shading = (typeof SHADINGS)[number];
export type Theme = (typeof THEMES)[number];

export interface ViewOptions {
  exhibit: number;
  other: number | null;
  compare: CompareMode;
  colour: string;
  range: [number, number] | null;
  shading: Shading;
  wireframe: boolean;
  bones: boolean;
  mesh: boolean;
  colliders: boolean;
  skin: boolean;
  ground: boolean;
  theme: Theme;
  background: string | null;
  camera: CameraView | CameraName;
  speed: number;
  loop: boolean;
  interface: boolean;
}

/// The choices a page starts with.
export const DEFAULT_OPTIONS: Readonly<ViewOptions> = {
  exhibit: 0, other: null, compare: "off", colour: "surface", range: null, shading: "smooth", wireframe: false,
  bones: false, mesh: false, colliders: false, skin: true, ground: true, theme: "auto", background: null,
  camera: "quarter", speed: 1, loop: true, interface: true,
};

/// The named views.
export const CAMERA_VIEWS: Readonly<Record<CameraName, CameraView>> = {
  front: { azimuth: 0, elevation: 4, zoom: 1 },
  back: { azimuth: 180, elevation: 4, zoom: 1 },
  left: { azimuth: 90, elevation: 4, zoom: 1 },
  right: { azimuth: -90, elevation: 4, zoom: 1 },
  top: { azimuth: 0, elevation: 90, zoom: 1 },
  quarter: { azimuth: 35, elevation: 12, zoom: 1 },
};

const SWITCHES = ["wireframe", "bones", "mesh", "colliders", "skin", "ground", "loop", "interface"] as const;
const SLOWEST = 0.05;
const FASTEST = 8;

/// Throws an error with a readable message when a change of `current` asks for something that is not there.
export function checkOptions(change: Partial<ViewOptions>, current: ViewOptions, exhibits: ExhibitInfo[]): void {
  for (const key of Object.keys(change))
    if (!(key in DEFAULT_OPTIONS))
      throw new Error(`option '${key}' is not known; there are ${Object.keys(DEFAULT_OPTIONS).join(", ")}`);
  const next = { ...current, ...change };
  for (const key of SWITCHES)
    if (typeof next[key] !== "boolean") throw new Error(`option '${key}' must be true or false`);
  checkName("compare", next.compare, COMPARE_MODES);
  checkName("shading", next.shading, SHADINGS);
  checkName("theme", next.theme, THEMES);
  checkExhibit("exhibit", next.exhibit, exhibits);
  if (next.other !== null) checkExhibit("other", next.other, exhibits);
  if (next.compare !== "off" && next.other === null)
    throw new Error("option 'compare' needs a second exhibit: there is nothing to compare with");
  checkColour(next, exhibits);
  checkRange(next.range);
  checkCamera(next.camera);
  if (!(next.speed >= SLOWEST && next.speed <= FASTEST))
    throw new Error(`option 'speed' is ${next.speed}, but must be from ${SLOWEST} to ${FASTEST}`);
  const colour = next.background;
  if (colour !== null && colour !== "transparent" && !CSS.supports("color", colour))
    throw new Error(`option 'background' is '${colour}', which is not a CSS colour`);
}

function checkName(key: string, value: string, names: readonly string[]): void {
  if (!names.includes(value)) throw new Error(`option '${key}' is '${value}', but must be one of ${names.join(", ")}`);
}

function checkExhibit(key: string, value: number, exhibits: ExhibitInfo[]): void {
  if (!Number.isInteger(value) || value < 0 || value >= exhibits.length)
    throw new Error(`option '${key}' is ${value}, but there are exhibits 0 to ${exhibits.length - 1}`);
}

function checkColour(next: ViewOptions, exhibits: ExhibitInfo[]): void {
  const main = exhibits[next.exhibit]!;
  const names = ["surface", "part", "distance", ...main.maps.map((name) => `map/${name}`)];
  checkName("colour", next.colour, names);
  if (next.colour !== "distance") return;
  if (next.other === null)
    throw new Error("option 'colour' is 'distance', but there is no second exhibit to measure the distance to");
  const other = exhibits[next.other]!;
  if (main.vertices !== other.vertices)
    throw new Error("option 'colour' is 'distance', but the exhibits have different numbers of vertices "
                    + `(${main.vertices} and ${other.vertices})`);
}

function checkRange(range: [number, number] | null): void {
  if (range !== null && !(range.length === 2 && Number.isFinite(range[0]) && Number.isFinite(range[1]) && range[0] < range[1]))
    throw new Error(`option 'range' is [${range}], but must be two numbers, the smaller one first, or null`);
}

function checkCamera(camera: CameraView | CameraName): void {
  if (typeof camera === "string") {
    checkName("camera", camera, CAMERA_NAMES);
    return;
  }
  const { azimuth, elevation, zoom } = camera;
  if (!Number.isFinite(azimuth) || !(Math.abs(elevation) <= 90) || !(zoom > 0 && zoom <= 1000))
    throw new Error("option 'camera' needs azimuth and elevation in degrees (elevation from -90 to 90) and a zoom above 0");
}

/// Fills in what a change implies: comparing needs somebody to compare with, and another exhibit may lack the map.
export function completeOptions(change: Partial<ViewOptions>, current: ViewOptions, exhibits: ExhibitInfo[]): Partial<ViewOptions> {
  const completed = { ...change };
  const next = { ...current, ...change };
  const main = exhibits[next.exhibit];
  if (!main) return completed;
  const lacksMap = next.colour.startsWith("map/") && !main.maps.includes(next.colour.slice(4));
  if (change.exhibit !== undefined && change.colour === undefined && lacksMap) completed.colour = "surface";
  const needed = next.compare !== "off" || next.colour === "distance";
  const alone = next.other === null || (next.other === next.exhibit && change.other === undefined);
  if (!needed || !alone) return completed;
  const others = exhibits.map((info, i) => ({ info, i })).filter(({ info, i }) => i !== next.exhibit && info.error === null);
  const best = others.find(({ info }) => info.vertices === main.vertices) ?? others[0];
  if (best) completed.other = best.i;
  return completed;
}
