// Finds the point of the skin under a place on the canvas.
import { Raycaster, Vector2, type Vector3 } from "three";
import type { Viewer } from "./viewer";

/// The point in metres, or null where there is no skin; x and y in CSS pixels.
export function pointAt(viewer: Viewer, x: number, y: number): Vector3 | null {
  const inside = ({ rect }: { rect: { x: number; y: number; width: number; height: number } }): boolean =>
    x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;
  const view = viewer.views()?.find(inside);
  if (!view) return null;
  const { camera } = viewer.rig;
  viewer.stage.aim(view, camera);
  const { rect } = view;
  const caster = new Raycaster();
  caster.setFromCamera(new Vector2((2 * (x - rect.x)) / rect.width - 1, 1 - (2 * (y - rect.y)) / rect.height), camera);
  const skins = viewer.cast.actors.filter(({ group }) => view.objects.includes(group)).map(({ skin }) => skin.mesh);
  return caster.intersectObjects(skins, false)[0]?.point ?? null;
}
