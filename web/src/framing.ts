// What the camera frames: the first frames of what is shown, unchanged while it plays.
import { Box3 } from "three";
import { floorOf, similar } from "./bounds";
import type { CameraRig } from "./camera_rig";
import type { Cast } from "./cast";
import type { FrameStore } from "./frame_store";
import type { ViewOptions } from "./options";

/// Keeps the camera on the exhibits.
export class Framing {
  /// Whether it is still open what to frame: the first frames have not come.
  pending = true;
  private readonly subject = new Box3();
  private wanted: ViewOptions["camera"] | null = null;

  constructor(private readonly rig: CameraRig, private readonly cast: Cast) {}

  /// Height of the floor in metres.
  get floor(): number {
    return floorOf(this.subject);
  }

  /// Moves the camera to a view, as soon as it is known of what.
  look(camera: ViewOptions["camera"]): void {
    if (this.pending) this.wanted = camera;
    else this.rig.go(camera, false);
  }

  /// Decides what is framed when the first frames are there; returns whether that was done.
  settle(store: FrameStore, camera: ViewOptions["camera"]): boolean {
    const box = this.cast.subject(store);
    if (!box) return false;
    const before = this.rig.view();
    const first = this.subject.isEmpty();
    // A camera that somebody has placed stays unless the new exhibit is somewhere else.
    const stays = !first && similar(this.subject, box, this.rig.touched ? 0.5 : 0.02);
    this.subject.copy(box);
    this.rig.setSubject(box);
    if (this.wanted !== null) this.rig.go(this.wanted, false);
    else if (first) this.rig.go(camera, false);
    else if (!stays) this.rig.go(this.rig.touched ? { ...before, zoom: 1 } : before, false);
    this.wanted = null;
    this.pending = false;
    return true;
  }

  /// The box around what is on stage as it is now.
  box(): Box3 {
    const box = new Box3();
    for (const actor of this.cast.actors) box.union(actor.box);
    return box;
  }

  /// Frames what is on stage as it is now.
  frameNow(): void {
    const box = this.box();
    if (box.isEmpty()) return;
    this.rig.setSubject(box);
    this.rig.frame();
  }

  /// Frames a box without turning the camera.
  fit(box: Box3): void {
    if (box.isEmpty()) return;
    const view = this.rig.view();
    this.rig.setSubject(box);
    this.rig.go(view, false);
  }
}
