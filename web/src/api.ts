// window.supple: the page for programs, that is for tests and for the maker of pictures.
import { Box3 } from "three";
import type { Curve } from "./graph_data";
import type { ViewOptions } from "./options";
import { takePicture } from "./picture";
import type { Viewer } from "./viewer";

/// What the page shows at the moment; plain data.
export interface PageState {
  frame: number | null;
  playing: boolean;
  first: number;
  last: number;
  available: number;
  status: string;
  options: ViewOptions;
  exhibits: string[];
  overlays: { bones: boolean; mesh: boolean; colliders: boolean };
  error: string | null;
  framesPerSecond: number;
  buffered: number;
}

/// The numbers behind a colour map: per vertex, and those at the ends of the legend; distances in metres.
export interface PageValues {
  name: string;
  unit: string;
  min: number;
  max: number;
  values: Float32Array;
}

/// What programs can do with the page.
export interface SupplePage {
  /// Resolves when the first frame of the first exhibit, or an error, is on screen.
  ready: Promise<void>;
  /// Changes options and resolves when the result is drawn; throws a readable error for what is not there.
  configure(options: Partial<ViewOptions>): Promise<void>;
  /// Pauses, and resolves when that frame of all shown exhibits is on screen; throws when it cannot be shown. The
  /// automatic range of a colour map then is that of this frame alone.
  seek(frame: number): Promise<void>;
  /// Frames all that these frames hold, the camera's direction and zoom unchanged.
  fit(frames: number[]): Promise<void>;
  /// Copy of the vertex positions on screen, three per vertex, exactly as streamed.
  positions(which?: "main" | "other"): Float32Array;
  values(): PageValues | null;
  state(): PageState;
  /// PNG of the 3D view alone as data URL, at exactly that size.
  picture(width: number, height: number): Promise<string>;
  /// The curves of the graphs, in SI units: volume, residual, iterations, time/STAGE; those of the exhibit that is
  /// compared with as other/NAME.
  graphs(): Curve[];
}

declare global {
  interface Window {
    supple: SupplePage;
  }
}

/// Makes the interface for a viewer that works.
export function makeApi(viewer: Viewer, ready: Promise<void>, curves: () => Curve[]): SupplePage {
  return {
    ready,
    configure: (options) => viewer.change(options),
    seek: (frame) => viewer.seek(frame),
    async fit(frames) {
      const box = new Box3();
      for (const frame of frames) {
        await viewer.seek(frame);
        box.union(viewer.framing.box());
      }
      viewer.framing.fit(box);
    },
    positions(which = "main") {
      const actor = which === "main" ? viewer.cast.main : viewer.cast.other;
      if (!actor) throw new Error(which === "main" ? "nothing is on screen" : "no second exhibit is on screen");
      return actor.skin.positions.slice();
    },
    values() {
      const { current } = viewer.colouring;
      if (!current) return null;
      return { name: current.name, unit: current.unit, min: current.low, max: current.high, values: current.values.slice() };
    },
    state: () => stateOf(viewer),
    async picture(width, height) {
      await viewer.settled(false);
      return takePicture(viewer, width, height);
    },
    graphs: () => curves().map((curve) => ({ ...curve, frames: [...curve.frames], values: [...curve.values] })),
  };
}

/// Makes the interface of a page that cannot draw; everything but the state fails with the message.
export function makeBrokenApi(message: string, options: ViewOptions): SupplePage {
  const fail = (): never => {
    throw new Error(message);
  };
  return {
    ready: Promise.resolve(),
    configure: async () => fail(),
    seek: async () => fail(),
    fit: async () => fail(),
    positions: fail,
    values: () => null,
    state: () => ({
      frame: null, playing: false, first: 0, last: 0, available: 0, status: "", options, exhibits: [],
      overlays: { bones: false, mesh: false, colliders: false }, error: message, framesPerSecond: 0, buffered: 0,
    }),
    picture: async () => fail(),
    graphs: () => [],
  };
}

function stateOf(viewer: Viewer): PageState {
  const { options, library, cast, rig } = viewer;
  const info = library.exhibits[options.exhibit];
  const present = cast.main?.present ?? { bones: false, mesh: false, colliders: false };
  return {
    frame: viewer.shown,
    playing: viewer.player.playing,
    first: info?.frames.first ?? 0,
    last: info?.frames.last ?? 0,
    available: info?.available ?? 0,
    status: info?.status ?? "",
    options: { ...options, camera: rig.view() },
    exhibits: library.exhibits.map(({ title }) => title),
    overlays: present,
    error: viewer.error,
    framesPerSecond: viewer.framesPerSecond,
    buffered: viewer.stream.store.count(options.exhibit),
  };
}
