// The clock of playback: real time at the exhibit's rate. Late frames are dropped; where frames are missing the clock
// waits for them.

/// What a player plays: frames that can be asked for, and whether more will come.
export interface PlayRange {
  first: number;
  last: number;
  rate: number;
  growing: boolean;
}

const LONGEST_STEP = 1;     // seconds; a tab that was in the background does not jump
const RESTART_BUFFER = 6;   // frames that must be there before a stalled clock goes on

/// Decides which frame is due.
export class Player {
  frame = 0;
  playing = false;
  speed = 1;
  loop = true;
  /// Whether the clock waits for frames.
  stalled = false;
  private clock = 0;

  /// Stops at a frame.
  seek(frame: number): void {
    this.frame = frame;
    this.clock = frame;
    this.stalled = false;
  }

  /// Starts to play; from the first frame when the end has been reached.
  play(range: PlayRange): void {
    if (this.frame >= range.last && !this.loop && !range.growing) this.seek(range.first);
    this.clock = this.frame;
    this.playing = true;
  }

  pause(): void {
    this.playing = false;
    this.stalled = false;
  }

  /// Lets `seconds` pass; `ready` says whether a frame can be shown.
  advance(seconds: number, range: PlayRange, ready: (frame: number) => boolean): void {
    if (!this.playing || range.last < range.first) return;
    if (this.stalled && !this.mayGoOn(range, ready)) return;
    this.stalled = false;
    const next = this.clock + Math.min(seconds, LONGEST_STEP) * range.rate * this.speed;
    const due = Math.floor(next + 1e-9);
    let frame = this.frame;
    while (frame < due) {
      const following = this.following(frame, range);
      if (following === null) return this.stopAtEnd(range);
      if (!ready(following)) {
        this.stalled = true;
        break;
      }
      ++frame;
      if (following <= this.frame && following === range.first) {
        // Around the loop: the rest of the time counts from the first frame.
        this.frame = range.first;
        this.clock = range.first + Math.min(next - frame, range.last - range.first);
        return;
      }
    }
    this.frame = frame;
    this.clock = this.stalled ? frame + 0.999 : next;
  }

  private following(frame: number, range: PlayRange): number | null {
    if (frame < range.last) return frame + 1;
    return this.loop && !range.growing ? range.first : null;
  }

  private mayGoOn(range: PlayRange, ready: (frame: number) => boolean): boolean {
    for (let k = 1, frame = this.frame; k <= RESTART_BUFFER; ++k) {
      const following = this.following(frame, range);
      if (following === null) return k > 1;
      if (!ready(following)) return false;
      frame = following;
    }
    return true;
  }

  private stopAtEnd(range: PlayRange): void {
    this.frame = range.last;
    this.clock = range.last + 0.999;
    if (range.growing) this.stalled = true;
    else this.pause();
  }
}
