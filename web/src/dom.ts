// Small help for building the page's elements.

type Attributes = Record<string, string | boolean>;

/// Makes an element with a class, attributes and children; `true` is an attribute without value, `false` none.
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, className = "", attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes))
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/// Paths of icons on a field of 24 by 24, drawn as lines.
const ICONS = {
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8 5.5v13M16 5.5v13",
  first: "M6 6v12M18 6l-8.5 6 8.5 6z",
  last: "M18 6v12M6 6l8.5 6-8.5 6z",
  back: "M15 6l-8 6 8 6",
  forward: "M9 6l8 6-8 6",
  loop: "M17 3l3.5 3.5L17 10M20 6.5H8A4.5 4.5 0 0 0 3.5 11v1M7 21l-3.5-3.5L7 14M4 17.5h12a4.5 4.5 0 0 0 4.5-4.5v-1",
  graph: "M4 4v16h16M7.5 15l4-5 3.5 3 5-7",
  panel: "M4 7h9M17.5 7H20M4 17h2.5M11 17h9M15.2 7m-2.3 0a2.3 2.3 0 1 0 4.6 0 2.3 2.3 0 1 0-4.6 0M8.8 17m-2.3 0a2.3 2.3 0 1 0 4.6 0 2.3 2.3 0 1 0-4.6 0",
  sun: "M12 12m-4 0a4 4 0 1 0 8 0 4 4 0 1 0-8 0M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4",
  moon: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z",
  auto: "M12 3.8a8.2 8.2 0 1 0 .01 0zM12 3.8v16.4M12 8h6.8M12 12h8M12 16h6.8",
  help: "M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 1.9v.6M12 17.6v.1M12 3.2a8.8 8.8 0 1 0 0 17.6 8.8 8.8 0 0 0 0-17.6z",
  frame: "M4 9V5.5A1.5 1.5 0 0 1 5.5 4H9M15 4h3.5A1.5 1.5 0 0 1 20 5.5V9M20 15v3.5a1.5 1.5 0 0 1-1.5 1.5H15M9 20H5.5A1.5 1.5 0 0 1 4 18.5V15",
  swap: "M7 4L3.5 7.5 7 11M3.5 7.5H20M17 13l3.5 3.5L17 20M20.5 16.5H4",
  down: "M6 9.5l6 6 6-6",
  close: "M6 6l12 12M18 6L6 18",
  warning: "M12 4.2L2.8 19.5h18.4zM12 10v4.5M12 17v.1",
} as const;

export type IconName = keyof typeof ICONS;

/// Makes an icon.
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon", `icon-${name}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/// Makes a button with an icon; `label` is read out and shown on hovering, with the key that does the same.
export function iconButton(name: IconName, label: string, key: string, act: () => void, className = ""): HTMLButtonElement {
  const title = key ? `${label} (${key})` : label;
  const button = make("button", `icon-button ${className}`, { type: "button", "aria-label": label, title }, icon(name));
  button.addEventListener("click", act);
  return button;
}

/// Replaces the icon of a button.
export function setIcon(button: HTMLElement, name: IconName): void {
  if (button.firstElementChild?.classList.contains(`icon-${name}`)) return;
  button.replaceChildren(icon(name));
}

/// Sets text only when it differs, so that selections and screen readers are left in peace.
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
