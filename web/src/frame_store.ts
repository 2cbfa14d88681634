// Frames that have arrived, in bounded memory.
import type { Frame } from "./shape";

/// Buffered frames of all exhibits and the messages of those that cannot be shown.
export class FrameStore {
  private readonly frames = new Map<number, Map<number, Frame>>();
  private readonly errors = new Map<number, Map<number, string>>();
  private usedBytes = 0;

  /// `budget` is the number of bytes the frames may take together.
  constructor(readonly budget: number) {}

  get bytes(): number {
    return this.usedBytes;
  }

  get(exhibit: number, frame: number): Frame | undefined {
    return this.frames.get(exhibit)?.get(frame);
  }

  error(exhibit: number, frame: number): string | undefined {
    return this.errors.get(exhibit)?.get(frame);
  }

  /// Whether the frame need not be asked for: it is here, or cannot be had.
  settled(exhibit: number, frame: number): boolean {
    return this.get(exhibit, frame) !== undefined || this.error(exhibit, frame) !== undefined;
  }

  put(exhibit: number, frame: Frame): void {
    const frames = table(this.frames, exhibit);
    this.usedBytes += frame.bytes - (frames.get(frame.number)?.bytes ?? 0);
    frames.set(frame.number, frame);
    this.errors.get(exhibit)?.delete(frame.number);
  }

  fail(exhibit: number, frame: number, message: string): void {
    table(this.errors, exhibit).set(frame, message);
  }

  /// Forgets failures, so that the frames are asked for again.
  forgetErrors(): void {
    this.errors.clear();
  }

  /// Bytes of the frames of one exhibit, on average; 0 when none is here.
  averageBytes(exhibit: number): number {
    const frames = this.frames.get(exhibit);
    if (!frames || frames.size === 0) return 0;
    let sum = 0;
    for (const frame of frames.values()) sum += frame.bytes;
    return sum / frames.size;
  }

  /// Number of buffered frames of one exhibit.
  count(exhibit: number): number {
    return this.frames.get(exhibit)?.size ?? 0;
  }

  /// Removes the frames that are needed last until the budget is kept; `delay` says how many frames from now a
  /// frame is needed.
  trim(delay: (exhibit: number, frame: number) => number): void {
    if (this.usedBytes <= this.budget) return;
    const all: { exhibit: number; frame: Frame; delay: number }[] = [];
    for (const [exhibit, frames] of this.frames)
      for (const frame of frames.values()) all.push({ exhibit, frame, delay: delay(exhibit, frame.number) });
    all.sort((a, b) => b.delay - a.delay);
    for (const { exhibit, frame, delay: last } of all) {
      if (this.usedBytes <= this.budget || last === 0) break;
      this.frames.get(exhibit)?.delete(frame.number);
      this.usedBytes -= frame.bytes;
    }
  }
}

function table<T>(tables: Map<number, Map<number, T>>, exhibit: number): Map<number, T> {
  let found = tables.get(exhibit);
  if (!found) tables.set(exhibit, (found = new Map<number, T>()));
  return found;
}
