// What the server has: the exhibits, how far they have come, and how their runs went.
import { type ExhibitInfo, type FrameReport, type Listing, fetchListing, fetchReport, fetchStaticChunk } from "./protocol";
import { type Shape, parseShape } from "./shape";

const REPORT_INTERVAL_MS = 1000;

interface Report {
  frames: FrameReport[];
  fetchedAt: number;
  busy: boolean;
}

/// The exhibits and their reports.
export class Library {
  listing: Listing = { supple: "", live: false, exhibits: [] };
  private readonly reports = new Map<number, Report>();

  /// `changed` is called when a report has grown.
  constructor(private readonly changed: () => void) {}

  get exhibits(): ExhibitInfo[] {
    return this.listing.exhibits;
  }

  /// Asks the server what there is.
  async load(): Promise<void> {
    this.listing = await fetchListing();
  }

  /// Asks again; records that others hold keep their identity and get the new numbers.
  async reload(): Promise<void> {
    const before = this.exhibits;
    await this.load();
    this.listing.exhibits = this.exhibits.map((info, i) => (before[i] ? Object.assign(before[i], info) : info));
  }

  /// Takes note that an exhibit has grown or ended.
  update(exhibit: number, available: number, status: string): void {
    const info = this.exhibits[exhibit];
    if (!info) return;
    info.available = available;
    info.status = status;
  }

  /// Number of the last frame that can be asked for; before the first one when there is none.
  lastFrame(exhibit: number): number {
    const info = this.exhibits[exhibit];
    return info ? Math.min(info.frames.last, info.frames.first + info.available - 1) : -1;
  }

  running(exhibit: number): boolean {
    return this.exhibits[exhibit]?.status === "running";
  }

  /// Loads the shape of an exhibit; throws an error with a message for people.
  async shape(exhibit: number): Promise<Shape> {
    const info = this.exhibits[exhibit];
    if (!info) throw new Error(`there is no exhibit ${exhibit}`);
    if (info.error !== null) throw new Error(info.error);
    return parseShape(await fetchStaticChunk(exhibit), info);
  }

  /// How the frames of an exhibit's run went, as far as is known.
  report(exhibit: number): FrameReport[] {
    return this.reports.get(exhibit)?.frames ?? [];
  }

  /// Asks for the part of a report that is not known yet; not more often than once a second.
  refreshReport(exhibit: number): void {
    let report = this.reports.get(exhibit);
    if (!report) this.reports.set(exhibit, (report = { frames: [], fetchedAt: -Infinity, busy: false }));
    const known = report;
    if (known.busy) return;
    known.busy = true;
    const wait = Math.max(0, known.fetchedAt + REPORT_INTERVAL_MS - performance.now());
    setTimeout(() => void this.fetchMore(exhibit, known), wait);
  }

  private async fetchMore(exhibit: number, report: Report): Promise<void> {
    try {
      const last = report.frames.at(-1);
      const more = await fetchReport(exhibit, last ? last.frame + 1 : null);
      report.frames.push(...more.filter(({ frame }) => !last || frame > last.frame));
      if (more.length > 0) this.changed();
    } catch {
      // Without a report there are no graphs; the loss of the server is reported by the connection.
    } finally {
      report.fetchedAt = performance.now();
      report.busy = false;
    }
  }
}
