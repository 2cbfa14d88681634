// The controls that panels are made of: switches, a choice of few, a choice of many.
import { make } from "./dom";

/// A control that shows a value of the viewer.
export interface Control {
  readonly element: HTMLElement;
  /// Shows the present state.
  update(): void;
}

/// A row with a switch. `hint` says why it cannot be used; null when it can.
export function switchRow(label: string, key: string, get: () => boolean, set: (on: boolean) => void,
                          hint: () => string | null = () => null): Control {
  const input = make("input", "switch", { type: "checkbox", role: "switch", "aria-label": label });
  const element = make("label", "row", {}, make("span", "row-label", {}, label), ...(key ? [make("kbd", "", {}, key)] : []), input);
  input.addEventListener("change", () => set(input.checked));
  return {
    element,
    update() {
      const why = hint();
      input.checked = get() && why === null;
      input.disabled = why !== null;
      element.classList.toggle("disabled", why !== null);
      element.title = why ?? "";
    },
  };
}

/// A row of buttons of which one is chosen.
export function segments<T extends string>(label: string, choices: readonly (readonly [T, string, string?])[],
                                           get: () => T | null, set: (choice: T) => void): Control {
  const element = make("div", "segments", { role: "radiogroup", "aria-label": label });
  const buttons = choices.map(([choice, text, title]) => {
    const button = make("button", "", { type: "button", role: "radio", title: title ?? text }, text);
    button.addEventListener("click", () => set(choice));
    element.append(button);
    return button;
  });
  return {
    element,
    update() {
      const chosen = get();
      choices.forEach(([choice], i) => buttons[i]!.setAttribute("aria-checked", String(choice === chosen)));
    },
  };
}

/// A choice from a list that may change; `choices` gives values and texts, a null text in front marks a disabled one.
export function picker(label: string, choices: () => { value: string; text: string; disabled?: boolean }[], get: () => string,
                       set: (value: string) => void): Control {
  const select = make("select", "", { "aria-label": label });
  const element = make("div", "picker", {}, select);
  let known = "";
  select.addEventListener("change", () => set(select.value));
  return {
    element,
    update() {
      const list = choices();
      const key = JSON.stringify(list);
      if (key !== known) {
        known = key;
        select.replaceChildren(...list.map(({ value, text, disabled }) => make("option", "", { value, disabled: disabled ?? false }, text)));
      }
      if (select.value !== get()) select.value = get();
      select.disabled = list.length < 2;
    },
  };
}

/// A field for a number; an empty one gives null.
export function numberField(label: string, get: () => number | null, set: (value: number | null) => void): Control {
  const input = make("input", "number", { type: "text", inputmode: "decimal", "aria-label": label, spellcheck: "false" });
  const commit = (): void => {
    const text = input.value.trim().replace("−", "-").replace(",", ".");
    const value = text === "" ? null : Number(text);
    set(value !== null && Number.isFinite(value) ? value : null);
    input.blur();
  };
  input.addEventListener("change", commit);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") commit();
    event.stopPropagation();
  });
  return {
    element: input,
    update() {
      if (document.activeElement === input) return;
      const value = get();
      const text = value === null ? "" : String(Number(value.toPrecision(4)));
      if (input.value !== text) input.value = text;
    },
  };
}
