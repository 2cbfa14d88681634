// The keyboard shortcuts, as one table that both the keys and the help read.
import { make, iconButton } from "./dom";

/// A shortcut: the keys as `KeyboardEvent.key` has them, how they are written, what they do.
export interface Shortcut {
  keys: string[];
  text: string;
  what: string;
  group: string;
  act(event: KeyboardEvent): void;
}

/// Listens to the keys of a table.
export function listen(shortcuts: Shortcut[]): void {
  const table = new Map(shortcuts.flatMap((shortcut) => shortcut.keys.map((key) => [key, shortcut] as const)));
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    // An open dialog has the keys to itself; it closes by Escape on its own.
    if (target.closest("dialog[open]") && event.key !== "?") return;
    if (target instanceof HTMLInputElement && target.type === "text") return;
    if (target instanceof HTMLSelectElement && event.key !== "Escape") return;
    // A focused button or switch keeps the keys that press it.
    const pressed = event.key === " " && (target instanceof HTMLButtonElement || target instanceof HTMLInputElement);
    if (pressed && target.matches(":focus-visible")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const shortcut = table.get(key);
    if (!shortcut) return;
    event.preventDefault();
    shortcut.act(event);
  });
}

/// The overlay that lists all shortcuts.
export class Help {
  readonly element = make("dialog", "help", { "aria-label": "Keyboard shortcuts" });

  constructor(shortcuts: Shortcut[], version: string) {
    const groups = [...new Set(shortcuts.map(({ group }) => group))];
    const rows = (group: string): HTMLElement[] => shortcuts.filter((shortcut) => shortcut.group === group).map(({ text, what }) =>
      make("div", "help-row", {}, make("span", "", {}, what), make("span", "help-keys", {}, ...text.split(" ").map((key) => make("kbd", "", {}, key)))));
    const mouse = [["Drag", "turn"], ["Right drag", "move"], ["Wheel", "zoom"], ["Double click", "turn around that point"]]
      .map(([how, what]) => make("div", "help-row", {}, make("span", "", {}, what!), make("span", "help-keys", {}, make("kbd", "", {}, how!))));
    this.element.append(
      make("div", "help-head", {}, make("h1", "", {}, "Shortcuts"), make("span", "help-version", {}, version),
        iconButton("close", "Close", "Esc", () => this.toggle())),
      make("div", "help-groups", {}, ...groups.map((group) => make("section", "", {}, make("h2", "", {}, group), ...rows(group))),
        make("section", "", {}, make("h2", "", {}, "Mouse and touch"), ...mouse)));
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.toggle();
    });
  }

  /// Opens or closes the overlay.
  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
