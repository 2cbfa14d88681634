// Who is on stage: the main exhibit and the one it is compared with.
import { Box3 } from "three";
import { Actor, type LineColours } from "./actor";
import { boundsOf } from "./bounds";
import type { Lane } from "./frame_feed";
import type { FrameStore } from "./frame_store";
import type { Library } from "./library";
import type { ViewOptions } from "./options";
import type { Paint } from "./skin";
import type { Stage } from "./stage";

/// The exhibits that are shown, and why one cannot be.
export class Cast {
  main: Actor | null = null;
  other: Actor | null = null;
  error: { exhibit: number; message: string } | null = null;
  private call = 0;

  constructor(private readonly stage: Stage, private readonly library: Library) {}

  /// Whether the second exhibit is needed for what the user has chosen.
  static needsOther(options: ViewOptions): boolean {
    return options.other !== null && (options.compare !== "off" || options.colour === "distance");
  }

  /// Brings the right exhibits on stage. Returns whether anything changed, or null when another call has overtaken
  /// this one.
  async assign(options: ViewOptions): Promise<boolean | null> {
    const call = ++this.call;
    const other = Cast.needsOther(options) ? options.other : null;
    if (this.main?.exhibit === options.exhibit && (this.other?.exhibit ?? null) === other) return false;
    this.error = null;
    const main = await this.actor(options.exhibit);
    const second = other === null ? null : await this.actor(other);
    if (call !== this.call) {
      for (const actor of [main, second]) if (actor !== this.main && actor !== this.other) actor?.dispose();
      return null;
    }
    for (const actor of [this.main, this.other]) if (actor !== main && actor !== second) actor?.dispose();
    this.main = main;
    this.other = second === main ? null : second;
    for (const actor of this.actors) {
      this.stage.scene.add(actor.group);
      this.stage.overScene.add(actor.over);
    }
    return true;
  }

  get actors(): Actor[] {
    return [this.main, this.other].filter((actor) => actor !== null);
  }

  /// What has to be streamed. Frames belong together by number, or by their place when the numbers do not meet.
  lanes(): Lane[] {
    const { main, other, library } = this;
    if (!main) return [];
    const lanes: Lane[] = [{ exhibit: main.exhibit, frameAt: (frame) => frame }];
    if (!other) return lanes;
    const { first, last } = other.info.frames;
    const meet = main.info.frames.first <= last && first <= main.info.frames.last;
    const shift = meet ? 0 : first - main.info.frames.first;
    const frameAt = (frame: number): number =>
      Math.min(Math.max(frame + shift, first), Math.max(first, library.lastFrame(other.exhibit)));
    lanes.push({ exhibit: other.exhibit, frameAt });
    return lanes;
  }

  /// The box that is framed: that of the first frames, or of the rest shape where there is no frame yet. Null while
  /// first frames are still on their way.
  subject(store: FrameStore): Box3 | null {
    const box = new Box3();
    for (const actor of this.actors) {
      const first = actor.info.frames.first;
      if (actor.info.available > 0 && !store.settled(actor.exhibit, first)) return null;
      const frame = store.get(actor.exhibit, first);
      box.union(boundsOf(frame?.positions ?? actor.shape.rest, frame?.joints ?? null, new Box3()));
    }
    return box;
  }

  /// Applies the choices of the user to everybody.
  apply(options: ViewOptions, colours: LineColours, coloured: boolean): void {
    const plain: Paint = options.colour === "part" ? "parts" : "vertex colours";
    this.main?.apply(options, coloured ? "map" : plain, colours);
    // Over the colours of a map a strong ghost would only confuse.
    const ghost: Paint = coloured ? "faint ghost" : "ghost";
    this.other?.apply(options, options.compare === "side" ? plain : ghost, colours);
  }

  private async actor(exhibit: number): Promise<Actor | null> {
    for (const actor of this.actors) if (actor.exhibit === exhibit) return actor;
    try {
      return new Actor(exhibit, this.library.exhibits[exhibit]!, await this.library.shape(exhibit));
    } catch (problem) {
      this.error = { exhibit, message: problem instanceof Error ? problem.message : String(problem) };
      return null;
    }
  }
}
