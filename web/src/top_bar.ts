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

const THEME_ICONS = { dark: "moon", light: "sun", auto: "auto" } as const satisfies Record<Theme, string>;

/// A name for an exhibit that tells it from others of the same file.
export function exhibitName(info: ExhibitInfo): string {
  return info.clip && info.kind !== "cache" && info.clip !== info.title ? `${info.title} · ${info.clip}` : info.title;
}

function facts(info: ExhibitInfo): string {
  if (info.error !== null) return "cannot be shown";
  const count = info.frames.last - info.frames.first + 1;
  const parts = [info.kind === "cache" ? info.body || "cache" : info.kind];
  if (info.kind === "cache" && info.clip) parts.push(info.clip);
  if (info.vertices > 0) parts.push(`${formatCount(info.vertices)} vertices`);
  parts.push(count === 1 ? "1 frame" : `${formatCount(count)} frames at ${info.frames.rate} fps`);
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
  private listed = "";

  constructor(private readonly viewer: Viewer, private readonly actions: TopBarActions) {
    this.button = make("button", "exhibit-button", { type: "button", "aria-haspopup": "listbox", "aria-expanded": "false", title: "Choose what to look at (E)" },
      make("span", "exhibit-words", {}, this.name, this.sub), icon("down"));
    this.button.addEventListener("click", () => this.toggleList());
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
    if (!this.list.hidden) this.list.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
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
    this.list.replaceChildren(...library.exhibits.map((info, i) => {
      const item = make("button", info.error === null ? "menu-item" : "menu-item broken", { type: "button", role: "option", "aria-selected": String(i === options.exhibit) },
        make("span", "menu-title", {}, exhibitName(info)), make("span", "menu-facts", {}, facts(info)));
      item.addEventListener("click", () => {
        this.closeList();
        this.actions.choose(i);
      });
      item.addEventListener("keydown", (event) => this.step(event, i));
      return item;
    }));
  }

  private step(event: KeyboardEvent, i: number): void {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0) return;
    (this.list.children[i + by] as HTMLElement | undefined)?.focus();
    event.preventDefault();
    event.stopPropagation();
  }
}
