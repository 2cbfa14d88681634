// Decides which frames to ask for: the one to be shown first, then those ahead of it, as far as memory allows.
import type { FrameStore } from "./frame_store";

/// One exhibit on show: `frameAt` gives its frame that belongs to a frame of the main exhibit.
export interface Lane {
  exhibit: number;
  frameAt(mainFrame: number): number;
}

/// What playback needs: frames `first` to `last` of the main exhibit, from `current` on, round and round.
export interface Demand {
  lanes: Lane[];
  first: number;
  last: number;
  current: number;
  scrubbing: boolean;
}

/// The part of a connection that the feed uses.
export interface Requester {
  readonly open: boolean;
  request(exhibit: number, frames: number[]): void;
  cancel(): void;
}

const MOST_OUTSTANDING = 16;
const REFILL_BELOW = 9;
const SHARE_AHEAD = 0.8;  // of the budget may be taken by frames ahead; the rest is slack

/// Keeps the frames ahead of playback coming.
export class FrameFeed {
  private readonly outstanding = new Set<string>();

  constructor(private readonly requester: Requester, private readonly store: FrameStore) {}

  /// Number of frames asked for that have not arrived.
  get waiting(): number {
    return this.outstanding.size;
  }

  /// To be called when a frame or its error has arrived.
  arrived(exhibit: number, frame: number): void {
    this.outstanding.delete(`${exhibit}:${frame}`);
  }

  /// To be called when the connection is lost: nothing that was asked for will come.
  reset(): void {
    this.outstanding.clear();
  }

  /// Makes the frame that is wanted now come next, whatever was asked for before.
  hurry(demand: Demand): void {
    if (this.outstanding.size === 0) return;
    const missing = demand.lanes.some(({ exhibit, frameAt }) => {
      const frame = frameAt(demand.current);
      return !this.store.settled(exhibit, frame) && !this.outstanding.has(`${exhibit}:${frame}`);
    });
    // While scrubbing one frame at a time is under way: it will be shown when it comes, then the next is asked for.
    if (!missing || (demand.scrubbing && this.outstanding.size <= demand.lanes.length)) return;
    this.requester.cancel();
    this.outstanding.clear();
  }

  /// Asks for what is missing.
  fill(demand: Demand): void {
    if (!this.requester.open || demand.last < demand.first) return;
    const most = demand.scrubbing ? demand.lanes.length : MOST_OUTSTANDING;
    if (this.outstanding.size >= (demand.scrubbing ? most : REFILL_BELOW)) return;
    const count = demand.last - demand.first + 1;
    const ahead = demand.scrubbing ? 1 : Math.min(count, this.horizon(demand.lanes));
    const start = Math.min(Math.max(demand.current, demand.first), demand.last) - demand.first;
    const batches: { exhibit: number; frames: number[] }[] = [];
    for (let k = 0; k < ahead && this.outstanding.size < most; ++k)
      for (const { exhibit, frameAt } of demand.lanes) {
        const frame = frameAt(demand.first + ((start + k) % count));
        if (this.store.settled(exhibit, frame) || this.outstanding.size >= most) continue;
        const key = `${exhibit}:${frame}`;
        if (this.outstanding.has(key)) continue;
        this.outstanding.add(key);
        const batch = batches.at(-1);
        if (batch?.exhibit === exhibit) batch.frames.push(frame);
        else batches.push({ exhibit, frames: [frame] });
      }
    for (const { exhibit, frames } of batches) this.requester.request(exhibit, frames);
  }

  /// Frees memory; frames behind the current one go first.
  trim(demand: Demand): void {
    const count = Math.max(1, demand.last - demand.first + 1);
    this.store.trim((exhibit, frame) => {
      const lane = demand.lanes.find((candidate) => candidate.exhibit === exhibit);
      if (!lane) return Infinity;
      const ahead = frame - lane.frameAt(demand.current);
      return ((ahead % count) + count) % count;
    });
  }

  private horizon(lanes: Lane[]): number {
    let bytes = 0;
    for (const { exhibit } of lanes) bytes += this.store.averageBytes(exhibit);
    return bytes > 0 ? Math.max(2, Math.floor((SHARE_AHEAD * this.store.budget) / bytes)) : MOST_OUTSTANDING;
  }
}
