// Starts the page.
import { makeApi, makeBrokenApi } from "./api";
import { errorCard } from "./messages";
import { DEFAULT_OPTIONS } from "./options";
import { Page } from "./page";
import { shownTheme } from "./theme";
import { Viewer } from "./viewer";

const canvas = document.querySelector<HTMLCanvasElement>("#stage")!;
document.documentElement.dataset["theme"] = shownTheme("auto");

function start(): void {
  const viewer = new Viewer(canvas);
  const page = new Page(viewer);
  const ready = viewer.start().then(() => viewer.settled(false));
  window.supple = makeApi(viewer, ready, () => page.graphs.curves());
  const tick = (now: number): void => {
    viewer.tick(now);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

try {
  start();
} catch (problem) {
  const message = "This browser cannot draw in 3D: it has no WebGL 2, or it is switched off.";
  console.error(problem);
  document.body.append(errorCard("Nothing can be drawn here", message, "Try another browser, or switch on hardware acceleration in its settings."));
  window.supple = makeBrokenApi(message, { ...DEFAULT_OPTIONS });
}
