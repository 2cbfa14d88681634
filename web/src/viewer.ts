// The viewer: keeps exhibits, frames, playback, options and drawing together, one tick per screen refresh.
import { Box3, Vector3 } from "three";
import { CameraRig } from "./camera_rig";
import { Cast } from "./cast";
import { Colouring } from "./colouring";
import type { Demand } from "./frame_feed";
import { Framing } from "./framing";
import { Library } from "./library";
import { DEFAULT_OPTIONS, type ViewOptions, checkOptions, completeOptions } from "./options";
import { type PlayRange, Player } from "./player";
import { type Rect, Stage, type View } from "./stage";
import { Stream } from "./stream";
import { LINE_COLOURS, shownTheme } from "./theme";
import { layOut } from "./views";
import { Waiting } from "./waiting";

/// Everything the page does, without its panels.
export class Viewer {
  readonly options: ViewOptions = { ...DEFAULT_OPTIONS };
  readonly library = new Library(() => this.touch());
  readonly player = new Player();
  readonly colouring = new Colouring();
  readonly stage: Stage;
  readonly rig: CameraRig;
  readonly cast: Cast;
  readonly framing: Framing;
  /// What keeps the page from showing anything, and what is wrong with the frame on screen.
  fatal: string | null = null;
  frameError: string | null = null;
  /// Number of the frame on screen, null before the first one.
  shown: number | null = null;
  follow = false;
  scrubbing = false;
  framesPerSecond = 0;
  readonly stream: Stream;
  private readonly listeners = new Set<() => void>();
  private readonly waiting = new Waiting();
  private free: Rect = { x: 0, y: 0, width: 1, height: 1 };
  private size = { width: 1, height: 1 };
  private assigning = 0;
  private stale = true;
  private dirty = true;
  private told = false;
  private lastTick = 0;
  private lastDraw = 0;
  private lastArrival: number | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.stage = new Stage(canvas);
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.rig = new CameraRig(canvas, () => calm.matches);
    this.rig.go(DEFAULT_OPTIONS.camera, false);
    this.cast = new Cast(this.stage, this.library);
    this.framing = new Framing(this.rig, this.cast);
    this.stream = new Stream(this.library, {
      arrived: (exhibit, frame) => this.arrived(exhibit, frame),
      grown: (exhibit, before) => this.grown(exhibit, before),
      changed: () => this.touch(),
    });
  }

  /// Loads the list of exhibits and shows the first one.
  async start(): Promise<void> {
    try {
      await this.library.load();
      const { exhibits, live } = this.library.listing;
      if (exhibits.length === 0) throw new Error("There is nothing to show.");
      this.follow = live || this.library.running(0);
      await this.assign();
    } catch (problem) {
      this.fatal = messageOf(problem);
    }
    this.touch();
  }

  /// Calls `listener` after every tick in which something that panels show may have changed.
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /// Says that something panels show has changed.
  touch(): void {
    this.dirty = true;
    this.told = false;
  }

  /// The frames that can be played.
  get range(): PlayRange {
    const info = this.library.exhibits[this.options.exhibit];
    const { first, rate } = info?.frames ?? { first: 1, rate: 24 };
    return { first, last: this.library.lastFrame(this.options.exhibit), rate, growing: this.library.running(this.options.exhibit) };
  }

  /// Message of what is wrong with what should be on screen, or null.
  get error(): string | null {
    return this.fatal ?? this.cast.error?.message ?? this.frameError;
  }

  /// Changes options; resolves when the result is on screen. Throws an error with a readable message when that
  /// cannot be.
  async change(change: Partial<ViewOptions>): Promise<void> {
    const completed = completeOptions(change, this.options, this.library.exhibits);
    checkOptions(completed, this.options, this.library.exhibits);
    const exhibitsChange = completed.exhibit !== undefined || completed.other !== undefined
                           || completed.compare !== undefined || completed.colour !== undefined;
    if (completed.colour !== undefined || completed.range !== undefined) this.colouring.forgetRange();
    Object.assign(this.options, completed);
    this.player.speed = this.options.speed;
    this.player.loop = this.options.loop;
    this.stale = true;
    this.touch();
    if (exhibitsChange) await this.assign();
    if (completed.camera !== undefined) this.framing.look(completed.camera);
    await this.settled(false);
  }

  /// Stops at a frame; resolves when it is on screen, throws when it cannot be shown.
  async seek(frame: number): Promise<void> {
    const { first, last } = this.range;
    if (!Number.isInteger(frame) || frame < first || frame > last)
      throw new Error(`frame ${frame} is not there; there are frames ${first} to ${last}`);
    this.colouring.forgetRange();
    this.goTo(frame);
    this.stale = true;
    await this.settled(true);
  }

  /// Goes to a frame without waiting, as the transport does; the nearest one when it is not there.
  goTo(frame: number): void {
    const { first, last } = this.range;
    this.follow = false;
    this.player.pause();
    this.player.seek(Math.min(Math.max(Math.round(frame), first), Math.max(first, last)));
    this.stream.hurry(this.demand());
    this.touch();
  }

  /// Starts or stops playback.
  toggle(): void {
    if (this.player.playing) this.player.pause();
    else {
      this.follow = false;
      this.player.play(this.range);
    }
    this.touch();
  }

  /// Resolves after the next drawing in which everything that was asked for is on screen.
  settled(strict: boolean): Promise<void> {
    this.dirty = true;
    return this.waiting.add(strict);
  }

  /// Sets the size of the canvas and the part of it that no panel covers.
  resize(width: number, height: number, free: Rect): void {
    if (width !== this.size.width || height !== this.size.height) this.stage.resize(width, height);
    this.size = { width, height };
    this.free = free;
    this.touch();
  }

  /// The views as they are on screen; null while nothing is.
  views(): View[] | null {
    const { main, other } = this.cast;
    if (!main) return null;
    return layOut({ x: 0, y: 0, ...this.size }, this.free, this.options.compare, main, other);
  }

  /// One screen refresh; `now` in milliseconds.
  tick(now: number): void {
    const seconds = (now - this.lastTick) / 1000;
    this.lastTick = now;
    this.advance(seconds);
    this.present();
    const demand = this.demand();
    this.stream.fill(demand);
    const moved = this.rig.update(now);
    if (this.dirty || moved || this.player.playing) {
      this.dirty = false;
      this.draw();
      this.measure(now);
      this.answer();
    }
    if (!this.told || this.player.playing || moved) {
      this.told = true;
      for (const listener of this.listeners) listener();
    }
  }

  /// Draws what is on stage; also after a picture has used the canvas.
  draw(): void {
    const views = this.views();
    this.stage.ground.group.visible = this.options.ground;
    if (!views) {
      this.stage.renderer.setScissorTest(false);
      this.stage.renderer.clear();
      return;
    }
    this.rig.setAspect(views[0]!.fit.width / views[0]!.fit.height);
    this.rig.setDepthRange(this.rig.camera);
    this.stage.draw(views, this.rig.camera);
  }

  private advance(seconds: number): void {
    const { player, range } = this;
    if (this.follow && range.last >= range.first && player.frame !== range.last) {
      player.pause();
      player.seek(range.last);
      this.stream.hurry(this.demand());
    }
    const lanes = this.cast.lanes();
    player.advance(seconds, range, (frame) => lanes.every(({ exhibit, frameAt }) => this.stream.store.settled(exhibit, frameAt(frame))));
  }

  /// Puts the frame that is due on screen when it is there.
  private present(): void {
    const lanes = this.cast.lanes();
    if (lanes.length === 0 || this.assigning > 0) return;
    if (this.framing.pending) {
      if (!this.framing.settle(this.stream.store, this.options.camera)) return;
      this.stale = true;
    }
    const here = (frame: number): boolean => lanes.every(({ exhibit, frameAt }) => this.stream.store.settled(exhibit, frameAt(frame)));
    let due = this.player.frame;
    if (!here(due) && (this.scrubbing || this.follow) && this.lastArrival !== null && here(this.lastArrival)) due = this.lastArrival;
    if (this.range.last >= this.range.first && !here(due)) return;
    if (due === this.shown && !this.stale) return;
    const problems: string[] = [];
    this.cast.actors.forEach((actor, i) => {
      const { exhibit, frameAt } = lanes[i]!;
      const frame = this.stream.store.get(exhibit, frameAt(due));
      const error = this.stream.store.error(exhibit, frameAt(due));
      if (error !== undefined) problems.push(error);
      if (!frame || frame === actor.frame) return;
      try {
        actor.show(frame);
      } catch (problem) {
        problems.push(messageOf(problem));
      }
    });
    this.frameError = problems.length > 0 ? problems.join("\n") : null;
    this.shown = due;
    this.stale = false;
    this.dress();
    this.touch();
  }

  /// Applies options, colours, lights and floor to what is on stage.
  private dress(): void {
    const { main, other } = this.cast;
    if (!main) return;
    const theme = shownTheme(this.options.theme);
    this.colouring.update(this.options, main, other);
    this.cast.apply(this.options, LINE_COLOURS[theme], this.colouring.current !== null);
    this.stage.setTheme(theme);
    const box = new Box3();
    for (const actor of this.cast.actors) box.union(actor.box);
    const half = box.getSize(new Vector3()).multiplyScalar(0.5);
    this.stage.follow({
      centre: box.getCenter(new Vector3()), ground: this.framing.floor,
      radius: Math.max(Math.hypot(half.x, half.z), this.rig.radius), height: Math.max(2 * half.y, 2 * this.rig.halfHeight),
    });
  }

  private async assign(): Promise<void> {
    ++this.assigning;
    try {
      const changed = await this.cast.assign(this.options);
      if (!changed) return;
      this.framing.pending = true;
      this.shown = null;
      this.frameError = null;
      for (const { exhibit } of this.cast.actors) this.library.refreshReport(exhibit);
      const { first, last } = this.range;
      this.player.seek(Math.min(Math.max(this.player.frame, first), Math.max(first, last)));
      this.stream.hurry(this.demand());
    } finally {
      --this.assigning;
      this.stale = true;
      this.touch();
    }
  }

  private demand(): Demand {
    const { first, last } = this.range;
    const current = this.framing.pending ? first : this.player.frame;
    return { lanes: this.cast.lanes(), first, last, current, scrubbing: this.scrubbing };
  }

  private arrived(exhibit: number, frame: number): void {
    if (exhibit === this.options.exhibit) this.lastArrival = frame;
    this.stream.trim(this.demand());
    this.told = false;
  }

  private grown(exhibit: number, before: number): void {
    if (before === 0) this.framing.pending = true;
    if (this.cast.actors.some((actor) => actor.exhibit === exhibit)) this.library.refreshReport(exhibit);
    this.touch();
  }

  private measure(now: number): void {
    const seconds = (now - this.lastDraw) / 1000;
    this.lastDraw = now;
    if (seconds > 0 && seconds < 0.5) this.framesPerSecond += 0.1 * (1 / seconds - this.framesPerSecond);
  }

  /// Tells those who wait for the screen.
  private answer(): void {
    const broken = this.fatal ?? this.cast.error?.message ?? null;
    const showing = this.shown === this.player.frame && !this.stale && this.assigning === 0 && !this.framing.pending;
    if (broken !== null || showing) this.waiting.answer(broken ?? this.frameError);
  }
}

function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
