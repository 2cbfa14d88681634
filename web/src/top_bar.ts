// The bar at the top: what is shown, how far a run has come, and switches for the page itself.
import { icon, iconButton, make, setIcon, setText } from "./dom";
import type { Theme } from "./options";
import type { ExhibitInfo } from "./protocol";
import { formatCount } from "./units";
import type { Viewer } from "./viewer";

/// What the bar asks of the rest of the page.
export interface TopBarActions {
  choose(exhibit: number): void;
  cycleTheme(): void;
  toggleHelp(): void;
  togglePanel(): void;
  panelOpen(): boolean;
}

const MANY = 9;  // exhibits; from here on the list can be searched

const THEME_ICONS = { dark: "moon", light: "sun", auto: "auto" } as const satisfies Record<Theme, string>;

/// A name for an exhibit that tells it from others of the same file.
export function exhibitName(info: ExhibitInfo): string {
  return info.clip && info.kind !== "cache" && !info.title.includes(info.clip) ? `${info.title}: ${info.clip}` : info.title;
}

function facts(info: ExhibitInfo): string {
  if (info.error !== null) return "cannot be shown";
  const count = info.frames.last - info.frames.first + 1;
  const parts = [info.kind === "cache" ? info.body || "cache" : info.kind];
  if (info.kind === "cache" && info.clip) parts.push(info.clip);
  if (info.vertices > 0) parts.push(`${formatCount(info.vertices)} vertices`);
  parts.push(count === 1 ? "1 frame" : `${formatCount(count)} frames at ${Number(info.frames.rate.toFixed(2))} fps`);
  return parts.join(" · ");
}

/// The words about a run that is not simply done; empty when it is.
export function statusText(info: ExhibitInfo): string {
  const count = info.frames.last - info.frames.first + 1;
  if (info.error !== null || info.status === "done") return "";
  if (info.status === "running")
    return info.available > 0 ? `running, frame ${info.available} of ${count}` : "running, no frame yet";
  if (info.status === "interrupted") return `interrupted, ${info.available} of ${count} frames`;
  return info.status;
}

/// Builds and updates the bar.
export class TopBar {
  readonly element = make("header", "top-bar");
  private readonly name = make("span", "exhibit-name");
  private readonly sub = make("span", "exhibit-facts");
  private readonly list = make("div", "menu exhibit-list", { role: "listbox", "aria-label": "Exhibits", hidden: true });
  private readonly button: HTMLButtonElement;
  private readonly chip = make("span", "chip", { role: "status" });
  private readonly follow: HTMLButtonElement;
  private readonly theme: HTMLButtonElement;
  private readonly panel: HTMLButtonElement;
  private readonly search = make("input", "menu-search", { type: "text", placeholder: "Search", "aria-label": "Search exhibits" });
  private readonly items = make("div");
  private listed = "";

  constructor(private readonly viewer: Viewer, private readonly actions: TopBarActions) {
    this.button = make("button", "exhibit-button", { type: "button", "aria-haspopup": "listbox", "aria-expanded": "false", title: "Choose what to look at (E)" },
      make("span", "exhibit-words", {}, this.name, this.sub), icon("down"));
    this.button.addEventListener("click", () => this.toggleList());
    this.list.append(this.search, this.items);
    this.search.addEventListener("input", () => this.filter());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.closeList();
      if (event.key === "ArrowDown") this.items.querySelector<HTMLElement>("button:not([hidden])")?.focus();
      if (event.key === "Enter") this.items.querySelector<HTMLElement>("button:not([hidden])")?.click();
    });
    this.follow = make("button", "follow", { type: "button", title: "Always show the newest frame (N)" }, "Follow");
    this.follow.addEventListener("click", () => {
      viewer.follow = !viewer.follow;
      viewer.touch();
    });
    this.theme = iconButton("auto", "Theme", "T", () => actions.cycleTheme());
    this.panel = iconButton("panel", "View settings", "P", () => actions.togglePanel());
    const mark = make("img", "mark", { src: "icon.svg", alt: "Supple", width: "26", height: "26" });
    this.element.append(
      make("div", "top-left", {}, mark, make("div", "exhibit-chooser", {}, this.button, this.list)),
      make("div", "top-middle", {}, this.chip, this.follow),
      make("div", "top-right", {}, this.theme, iconButton("help", "Keyboard shortcuts", "?", () => actions.toggleHelp()), this.panel));
    document.addEventListener("pointerdown", (event) => {
      if (!this.list.hidden && !this.element.contains(event.target as Node)) this.closeList();
    });
  }

  /// Opens or closes the list of exhibits.
  toggleList(): void {
    this.list.hidden = !this.list.hidden;
    this.button.setAttribute("aria-expanded", String(!this.list.hidden));
    if (this.list.hidden) return;
    this.search.value = "";
    this.filter();
    const chosen = this.items.querySelector<HTMLElement>("[aria-selected=true]");
    chosen?.scrollIntoView({ block: "nearest" });
    (this.search.hidden ? chosen : this.search)?.focus();
  }

  /// Closes the list; returns whether it was open.
  closeList(): boolean {
    const open = !this.list.hidden;
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    return open;
  }

  update(): void {
    const { options, library, follow } = this.viewer;
    const info = library.exhibits[options.exhibit];
    setText(this.name, info ? exhibitName(info) : "Supple");
    setText(this.sub, info ? facts(info) : "");
    document.title = info ? `${exhibitName(info)} – Supple` : "Supple";
    const status = info ? statusText(info) : "";
    setText(this.chip, status);
    this.chip.hidden = status === "";
    this.chip.dataset["kind"] = info?.status.split(":")[0] ?? "";
    this.follow.hidden = info?.status !== "running";
    this.follow.setAttribute("aria-pressed", String(follow));
    setIcon(this.theme, THEME_ICONS[options.theme]);
    this.theme.title = `Theme: ${options.theme} (T)`;
    this.panel.setAttribute("aria-pressed", String(this.actions.panelOpen()));
    this.updateList();
  }

  private updateList(): void {
    const { options, library } = this.viewer;
    const key = JSON.stringify([options.exhibit, library.exhibits.map(({ title, clip, status }) => [title, clip, status])]);
    if (key === this.listed) return;
    this.listed = key;
    this.search.hidden = library.exhibits.length < MANY;
    this.items.replaceChildren(...library.exhibits.map((info, i) => {
      const item = make("button", info.error === null ? "menu-item" : "menu-item broken", { type: "button", role: "option", "aria-selected": String(i === options.exhibit) },
        make("span", "menu-title", {}, exhibitName(info)), make("span", "menu-facts", {}, facts(info)));
      item.addEventListener("click", () => {
        this.closeList();
        this.actions.choose(i);
      });
      item.addEventListener("keydown", (event) => this.step(event));
      return item;
    }));
  }

  /// Hides what does not have the words of the search field in it.
  private filter(): void {
    const words = this.search.value.toLowerCase().split(/\s+/);
    for (const item of this.items.children as HTMLCollectionOf<HTMLElement>)
      item.hidden = !words.every((word) => item.textContent?.toLowerCase().includes(word));
  }

  private step(event: KeyboardEvent): void {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0) return;
    const shown = [...this.items.querySelectorAll<HTMLElement>("button:not([hidden])")];
    const next = shown[shown.indexOf(event.currentTarget as HTMLElement) + by];
    if (next) next.focus();
    else if (by < 0) this.search.focus();
    event.preventDefault();
    event.stopPropagation();
  }
}
