// Pictures of the 3D view alone, at any size.
import { shownTheme, paintBackdrop } from "./theme";
import type { Viewer } from "./viewer";
import { layOut } from "./views";

const FINEST = 8192;  // pixels along a side that every graphics card can draw

/// Draws what is on stage at exactly this size and returns a PNG as data URL.
export function takePicture(viewer: Viewer, width: number, height: number): string {
  if (!Number.isInteger(width) || !Number.isInteger(height) || width < 1 || height < 1 || width > FINEST || height > FINEST)
    throw new Error(`a picture of ${width} × ${height} pixels cannot be made; sides may have 1 to ${FINEST} pixels`);
  const { stage, rig, cast, options, canvas } = viewer;
  const { renderer } = stage;
  const picture = document.createElement("canvas");
  picture.width = width;
  picture.height = height;
  const context = picture.getContext("2d")!;
  paintBackdrop(context, width, height, shownTheme(options.theme), options.background);
  if (cast.main) {
    const before = { width: canvas.width, height: canvas.height, ratio: renderer.getPixelRatio() };
    // Twice as fine as asked for, then reduced: smooth edges also inside of surfaces and lines.
    renderer.setPixelRatio(2 * Math.max(width, height) <= FINEST ? 2 : 1);
    renderer.setSize(width, height, false);
    const whole = { x: 0, y: 0, width, height };
    const views = layOut(whole, whole, options.compare, cast.main, cast.other);
    const camera = rig.cameraFor(views[0]!.fit.width / views[0]!.fit.height);
    rig.setDepthRange(camera);
    stage.draw(views, camera);
    context.imageSmoothingQuality = "high";
    context.drawImage(canvas, 0, 0, width, height);
    renderer.setPixelRatio(before.ratio);
    renderer.setSize(before.width / before.ratio, before.height / before.ratio, false);
    viewer.draw();
  }
  return picture.toDataURL("image/png");
}
