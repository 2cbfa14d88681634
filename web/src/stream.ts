// Frames on their way from the server: the connection, the buffer, and what is asked for next.
import { Connection, FRAME_HEADER_BYTES } from "./connection";
import { type Demand, FrameFeed } from "./frame_feed";
import { FrameStore } from "./frame_store";
import type { Library } from "./library";
import { StaleAddress } from "./protocol";
import { parseFrame } from "./shape";

/// What a stream tells its owner.
export interface StreamEvents {
  /// A frame, or the news that it cannot be had, has come.
  arrived(exhibit: number, frame: number): void;
  /// An exhibit has grown or ended; it had `before` frames.
  grown(exhibit: number, before: number): void;
  /// The connection was lost or is back.
  changed(): void;
}

const MEBIBYTE = 1 << 20;
const FRAME_BUDGET = 384 * MEBIBYTE;

/// Receives frames into a bounded buffer.
export class Stream {
  readonly store = new FrameStore(FRAME_BUDGET);
  /// What to tell people about the connection; null when all is well.
  trouble: string | null = null;
  private readonly connection: Connection;
  private readonly feed: FrameFeed;

  constructor(private readonly library: Library, private readonly events: StreamEvents) {
    this.connection = new Connection({
      opened: (again) => void this.opened(again),
      lost: () => this.lost(),
      frame: (exhibit, frame, buffer) => this.receive(exhibit, frame, buffer),
      frameError: (exhibit, frame, message) => this.fail(exhibit, frame, message),
      changed: (exhibit, available, status) => this.grow(exhibit, available, status),
      error: (message) => console.warn(`Supple: ${message}`),
    });
    this.feed = new FrameFeed(this.connection, this.store);
  }

  /// Asks for what is missing.
  fill(demand: Demand): void {
    this.feed.fill(demand);
  }

  /// Makes the frame that is wanted now come next.
  hurry(demand: Demand): void {
    this.feed.hurry(demand);
  }

  /// Keeps the memory of the buffer bounded.
  trim(demand: Demand): void {
    this.feed.trim(demand);
  }

  private receive(exhibit: number, frame: number, buffer: ArrayBuffer): void {
    this.feed.arrived(exhibit, frame);
    const info = this.library.exhibits[exhibit];
    if (!info) return;
    try {
      this.store.put(exhibit, parseFrame(buffer, FRAME_HEADER_BYTES, frame, info));
    } catch (problem) {
      this.store.fail(exhibit, frame, problem instanceof Error ? problem.message : String(problem));
    }
    this.events.arrived(exhibit, frame);
  }

  private fail(exhibit: number, frame: number, message: string): void {
    this.feed.arrived(exhibit, frame);
    this.store.fail(exhibit, frame, message);
    this.events.arrived(exhibit, frame);
  }

  private grow(exhibit: number, available: number, status: string): void {
    const before = this.library.exhibits[exhibit]?.available ?? 0;
    this.library.update(exhibit, available, status);
    this.events.grown(exhibit, before);
  }

  private lost(): void {
    this.feed.reset();
    this.trouble ??= "Supple does not answer. Frames that have arrived can still be played. Trying again …";
    this.events.changed();
    void this.checkAddress();
  }

  /// Finds out whether the server is there but another run, which will never answer to this page's address.
  private async checkAddress(): Promise<void> {
    try {
      await this.library.reload();
    } catch (problem) {
      if (!(problem instanceof StaleAddress)) return;
      this.trouble = problem.message;
      this.connection.end();
      this.events.changed();
    }
  }

  /// After a break everything is asked anew: the exhibits may have grown, damaged frames may have been mended.
  private async opened(again: boolean): Promise<void> {
    this.trouble = null;
    if (again) this.store.forgetErrors();
    this.events.changed();
    if (again) await this.checkAddress();
    this.events.changed();
  }
}
