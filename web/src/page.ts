// The page around the viewer: bars, panels, shortcuts, and how they share the window.
import { make } from "./dom";
import { GraphDrawer } from "./graph_drawer";
import { Help, type Shortcut, listen } from "./keyboard";
import { Legend } from "./legend";
import { Messages } from "./messages";
import { CAMERA_NAMES, THEMES, type ViewOptions } from "./options";
import { pointAt } from "./picking";
import { shortcutsFor } from "./shortcuts";
import { SidePanel } from "./side_panel";
import type { Rect } from "./stage";
import { backdropCss, onSystemTheme, shownTheme } from "./theme";
import { TopBar } from "./top_bar";
import { Transport } from "./transport";
import type { Viewer } from "./viewer";

const NARROW = 760;  // pixels; below, the panel is a sheet over the stage

/// Builds the page and keeps it up to date.
export class Page {
  readonly graphs: GraphDrawer;
  readonly transport: Transport;
  readonly panel: SidePanel;
  readonly top: TopBar;
  readonly messages: Messages;
  private readonly legend: Legend;
  private readonly frame = make("div", "ui");
  private readonly bottom = make("footer", "bottom");
  private help: Help | null = null;
  private readonly shortcuts: Shortcut[];
  private lastFree = "";

  constructor(readonly viewer: Viewer) {
    const set = (change: Partial<ViewOptions>): void => this.set(change);
    this.top = new TopBar(viewer, {
      choose: (exhibit) => set({ exhibit }),
      cycleTheme: () => this.cycleTheme(),
      toggleHelp: () => this.toggleHelp(),
      togglePanel: () => this.togglePanel(),
      panelOpen: () => !this.panel.element.hidden,
    });
    this.panel = new SidePanel(viewer, set);
    this.legend = new Legend(viewer);
    this.graphs = new GraphDrawer(viewer);
    this.transport = new Transport(viewer, { set, toggleGraphs: () => this.toggleGraphs(), graphsOpen: () => !this.graphs.element.hidden });
    this.messages = new Messages(viewer);
    this.bottom.append(this.legend.element, this.graphs.element, this.transport.element);
    this.frame.append(this.top.element, this.panel.element, this.bottom, this.messages.element);
    document.body.append(this.frame);
    this.panel.element.hidden = window.innerWidth < NARROW;
    this.shortcuts = shortcutsFor(this);
    listen(this.shortcuts);
    onSystemTheme(() => this.set({}));
    viewer.canvas.addEventListener("dblclick", (event) => {
      const point = pointAt(viewer, event.offsetX, event.offsetY);
      if (point) viewer.rig.focus(point);
    });
    new ResizeObserver(() => this.layOut()).observe(document.body);
    viewer.onChange(() => this.update());
    this.layOut();
  }

  /// Changes options; what goes wrong is shown as a notice.
  set(change: Partial<ViewOptions>): void {
    this.viewer.change(change).catch((problem: unknown) => this.messages.say(problem instanceof Error ? problem.message : String(problem)));
  }

  update(): void {
    const { options } = this.viewer;
    document.documentElement.dataset["theme"] = shownTheme(options.theme);
    this.viewer.canvas.style.background = backdropCss(shownTheme(options.theme), options.background);
    this.frame.classList.toggle("bare", !options.interface);
    if (options.interface)
      for (const part of [this.top, this.panel, this.legend, this.transport, this.graphs, this.messages]) part.update();
    else this.messages.update();
    this.layOut();
  }

  toggleHelp(): void {
    if (!this.help) {
      const { supple } = this.viewer.library.listing;
      this.help = new Help(this.shortcuts, supple ? `Supple ${supple}` : "");
      document.body.append(this.help.element);
    }
    this.help.toggle();
  }

  togglePanel(): void {
    this.panel.element.hidden = !this.panel.element.hidden;
    this.viewer.touch();
  }

  toggleGraphs(): void {
    this.graphs.element.hidden = !this.graphs.element.hidden;
    this.viewer.touch();
  }

  cycleTheme(): void {
    const { theme } = this.viewer.options;
    this.set({ theme: THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]! });
  }

  /// Flies to the named view of a digit key.
  flyTo(digit: number): void {
    const name = ([CAMERA_NAMES[5], "front", "left", "back", "right", "top"] as const)[digit - 1];
    if (name) this.panel.flyTo(name);
  }

  /// Tells the viewer how large the canvas is and what of it panels leave free.
  private layOut(): void {
    const { canvas, options } = this.viewer;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const free: Rect = { x: 0, y: 0, width, height };
    const wide = width >= NARROW;
    const above = this.graphs.element.hidden ? this.transport.element : this.graphs.element;
    const panel = this.panel.element;
    panel.style.maxHeight = wide ? `${Math.max(120, above.getBoundingClientRect().top - panel.offsetTop - 12)}px` : "";
    if (options.interface) {
      free.y = this.top.element.getBoundingClientRect().bottom;
      free.height = Math.max(80, above.getBoundingClientRect().top - free.y);
      if (!panel.hidden && wide) free.width = panel.getBoundingClientRect().left;
    }
    const key = JSON.stringify([width, height, free]);
    if (key === this.lastFree || width === 0 || height === 0) return;
    this.lastFree = key;
    this.frame.style.setProperty("--free-middle", `${free.x + free.width / 2}px`);
    this.frame.style.setProperty("--free-width", `${free.width}px`);
    this.viewer.resize(width, height, free);
  }
}
