// Where things are drawn: one view, or two side by side (one above the other where the window is high).
import type { Actor } from "./actor";
import type { CompareMode } from "./options";
import type { Rect, View } from "./stage";

/// The views for a canvas of which `free` is not covered by panels.
export function layOut(canvas: Rect, free: Rect, compare: CompareMode, main: Actor, other: Actor | null): View[] {
  if (!other || compare === "off") return [viewOf([main], canvas, free)];
  if (compare === "overlay") return [viewOf([main, other], canvas, free)];
  const halves = split(free);
  if (free.width >= free.height) {
    const middle = free.x + free.width / 2;
    return [
      viewOf([main], { ...canvas, width: middle - canvas.x }, halves[0]),
      viewOf([other], { ...canvas, x: middle, width: canvas.x + canvas.width - middle }, halves[1]),
    ];
  }
  const middle = free.y + free.height / 2;
  return [
    viewOf([main], { ...canvas, height: middle - canvas.y }, halves[0]),
    viewOf([other], { ...canvas, y: middle, height: canvas.y + canvas.height - middle }, halves[1]),
  ];
}

/// The two halves of a rectangle, cut across its longer side.
export function split({ x, y, width, height }: Rect): [Rect, Rect] {
  if (width >= height)
    return [{ x, y, width: width / 2, height }, { x: x + width / 2, y, width: width / 2, height }];
  return [{ x, y, width, height: height / 2 }, { x, y: y + height / 2, width, height: height / 2 }];
}

function viewOf(actors: Actor[], rect: Rect, fit: Rect): View {
  return {
    objects: actors.map(({ group }) => group),
    over: actors.filter(({ drawsOver }) => drawsOver).map(({ over }) => over),
    rect,
    fit,
  };
}
