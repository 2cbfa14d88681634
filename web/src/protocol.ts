// What the server says over HTTP: the list of exhibits and the report of a run, as docs/viewer-protocol.md
// describes them. All addresses are relative to the page's own.

/// Frames of a run: numbers and frames per second.
export interface FrameRange {
  first: number;
  last: number;
  rate: number;
}

export interface JointInfo {
  name: string;
  parent: number;
  bone: boolean;
}

export interface PartInfo {
  name: string;
  material: string;
  vertices: [number, number];
  triangles: [number, number];
}

/// One thing to look at.
export interface ExhibitInfo {
  title: string;
  file: string;
  kind: string;
  clip: string;
  body: string;
  frames: FrameRange;
  available: number;
  status: string;
  vertices: number;
  triangles: number;
  joints: JointInfo[];
  parts: PartInfo[];
  maps: string[];
  error: string | null;
}

/// All there is to see.
export interface Listing {
  supple: string;
  live: boolean;
  exhibits: ExhibitInfo[];
}

/// How one frame of a run went; times in seconds, volume in cubic metres.
export interface FrameReport {
  frame: number;
  seconds: number;
  stages: Record<string, number>;
  iterations: number;
  residual: number;
  volume: number;
  warnings: string[];
}

const NOTHING: ExhibitInfo = {
  title: "", file: "", kind: "cache", clip: "", body: "", frames: { first: 1, last: 1, rate: 24 }, available: 0,
  status: "done", vertices: 0, triangles: 0, joints: [], parts: [], maps: [], error: null,
};

/// Thrown when the server does not know the page's address: it is another run of the program.
export class StaleAddress extends Error {}

async function get(address: string): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(address, { cache: "no-store" });
  } catch {
    throw new Error("Supple does not answer. Is it still running?");
  }
  return answer;
}

/// Asks for the list of exhibits.
export async function fetchListing(): Promise<Listing> {
  const answer = await get("exhibits.json");
  if (answer.status === 404 || answer.status === 403)
    throw new StaleAddress("This page belongs to an earlier run of Supple. Open the address that the new run prints.");
  if (!answer.ok) throw new Error(`Supple answered with error ${answer.status} when asked what there is to see.`);
  const listing = (await answer.json()) as Partial<Listing> & { version?: number };
  if (listing.version !== 1) throw new Error(`The server speaks version ${listing.version} of the protocol, this page 1.`);
  const exhibits = (listing.exhibits ?? []).map((exhibit) => ({ ...NOTHING, ...exhibit }));
  for (const exhibit of exhibits)
    if (!(exhibit.frames.rate > 0)) exhibit.frames = { ...exhibit.frames, rate: NOTHING.frames.rate };
  return { supple: listing.supple ?? "", live: listing.live ?? false, exhibits };
}

/// Asks for the static chunk of an exhibit.
export async function fetchStaticChunk(exhibit: number): Promise<ArrayBuffer> {
  const answer = await get(`exhibits/${exhibit}/static.chunk`);
  if (!answer.ok) {
    const words = (await answer.text()).trim();
    throw new Error(words && words.length < 500 ? words : `The shape cannot be read (error ${answer.status}).`);
  }
  return answer.arrayBuffer();
}

/// Asks how the run went from frame `from` on; an empty list when there is no report (yet).
export async function fetchReport(exhibit: number, from: number | null): Promise<FrameReport[]> {
  const answer = await get(`exhibits/${exhibit}/report.json${from === null ? "" : `?from=${from}`}`);
  if (!answer.ok) return [];
  const report = (await answer.json()) as { frames?: Partial<FrameReport>[] } | null;
  return (report?.frames ?? []).map((frame) => ({
    frame: frame.frame ?? 0,
    seconds: frame.seconds ?? 0,
    stages: frame.stages ?? {},
    iterations: frame.iterations ?? 0,
    residual: frame.residual ?? 0,
    volume: frame.volume ?? 0,
    warnings: frame.warnings ?? [],
  }));
}
