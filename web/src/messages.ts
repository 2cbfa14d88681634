// Words on the stage: errors, waiting, a lost connection, names of compared exhibits, short notices.
import { icon, make, setText } from "./dom";
import { exhibitName } from "./top_bar";
import type { Viewer } from "./viewer";

const NOTICE_MS = 5000;

/// A card that says what is wrong in full.
export function errorCard(title: string, message: string, hint: string): HTMLElement {
  return make("div", "panel error-card", { role: "alert" }, icon("warning"), make("h1", "", {}, title),
    make("p", "error-text", {}, message), make("p", "error-hint", {}, hint));
}

/// Builds and updates the words on the stage.
export class Messages {
  readonly element = make("div", "messages");
  private readonly card = make("div", "card-place");
  private readonly banner = make("div", "panel banner", { role: "alert", hidden: true }, icon("warning"), make("span"));
  private readonly trouble = make("div", "panel trouble", { role: "status", hidden: true }, make("i", "spinner"), make("span"));
  private readonly loading = make("div", "loading", { role: "status" }, make("i", "spinner"), "Loading");
  private readonly notice = make("div", "panel notice", { role: "status", hidden: true });
  private readonly labels = [0, 1].map(() => make("div", "view-label", { hidden: true }));
  private readonly divider = make("div", "divider", { hidden: true, "aria-hidden": "true" });
  private cardText = "";
  private noticeTimer = 0;

  constructor(private readonly viewer: Viewer) {
    this.element.append(...this.labels, this.divider, this.card, this.banner, this.trouble, this.loading, this.notice);
  }

  /// Shows a short notice for some seconds.
  say(text: string): void {
    this.notice.textContent = text;
    this.notice.hidden = false;
    clearTimeout(this.noticeTimer);
    this.noticeTimer = window.setTimeout(() => (this.notice.hidden = true), NOTICE_MS);
  }

  update(): void {
    const { viewer } = this;
    this.showCard();
    const broken = viewer.fatal !== null || viewer.cast.error !== null;
    this.banner.hidden = viewer.frameError === null || broken;
    setText(this.banner.lastElementChild as HTMLElement, `Frame ${viewer.shown} cannot be shown. ${viewer.frameError ?? ""}`);
    this.trouble.hidden = viewer.stream.trouble === null || viewer.fatal !== null;
    setText(this.trouble.lastElementChild as HTMLElement, viewer.stream.trouble ?? "");
    this.loading.hidden = broken || viewer.shown !== null;
    this.showLabels();
  }

  private showCard(): void {
    const { fatal, cast, library } = this.viewer;
    const info = cast.error ? library.exhibits[cast.error.exhibit] : undefined;
    const message = fatal ?? cast.error?.message ?? "";
    const key = `${info?.title} ${message}`;
    if (key === this.cardText) return;
    this.cardText = key;
    if (message === "") this.card.replaceChildren();
    else if (fatal !== null) this.card.replaceChildren(errorCard("Nothing to show", message, "Reload the page once Supple runs again."));
    else this.card.replaceChildren(errorCard(`${info?.title ?? "This exhibit"} cannot be shown`, message,
      library.exhibits.length > 1 ? "Choose something else at the top left, or mend the file and reload the page."
        : "Mend or make the file again, then reload the page. “supple inspect” says more about it."));
  }

  /// The names of two exhibits on show, each at the top of its view; one of them coloured in an overlay.
  private showLabels(): void {
    const { cast, options } = this.viewer;
    const views = this.viewer.views() ?? [];
    const shown = cast.other !== null && options.compare !== "off";
    const side = shown && options.compare === "side";
    this.divider.hidden = !side;
    [cast.main, cast.other].forEach((actor, i) => {
      const label = this.labels[i]!;
      label.hidden = !shown || actor === null;
      if (label.hidden || !actor) return;
      setText(label, exhibitName(actor.info) + (actor.info.kind === "cache" && actor.info.body ? ` · ${actor.info.body}` : ""));
      label.dataset["role"] = side ? "" : i === 0 ? "main" : "ghost";
      const fit = (side ? views[i] : views[0])!.fit;
      label.style.left = `${fit.x + fit.width / 2}px`;
      label.style.top = `${fit.y + (side ? 4 : 4 + 30 * i)}px`;
    });
    if (!side) return;
    const [a, b] = [views[0]!.fit, views[1]!.fit];
    const upright = a.y === b.y;
    Object.assign(this.divider.style, upright
      ? { left: `${b.x}px`, top: `${a.y}px`, width: "1px", height: `${a.height}px` }
      : { left: `${a.x}px`, top: `${b.y}px`, width: `${a.width}px`, height: "1px" });
  }
}
