// Numbers and units as people read them.

/// A unit and how many of it are in one SI unit.
export interface Unit {
  name: string;
  perBase: number;
}

const LENGTHS: Unit[] = [
  { name: "µm", perBase: 1e6 }, { name: "mm", perBase: 1e3 }, { name: "cm", perBase: 1e2 }, { name: "m", perBase: 1 },
];
const VOLUMES: Unit[] = [{ name: "cm³", perBase: 1e6 }, { name: "L", perBase: 1e3 }, { name: "m³", perBase: 1 }];
const TIMES: Unit[] = [{ name: "µs", perBase: 1e6 }, { name: "ms", perBase: 1e3 }, { name: "s", perBase: 1 }];

/// The unit in which the largest of some values reads well; `base` is "m", "m³" or "s", others stay as they are.
export function unitFor(base: string, largest: number): Unit {
  const magnitude = Math.abs(largest);
  if (base === "m") return pick(LENGTHS, magnitude, [1e-3, 1e-2, 1]);
  if (base === "m³") return pick(VOLUMES, magnitude, [1e-3, 1]);
  if (base === "s") return pick(TIMES, magnitude, [1e-3, 1]);
  return { name: base, perBase: 1 };
}

function pick(units: Unit[], magnitude: number, steps: number[]): Unit {
  let i = 0;
  while (i < steps.length && magnitude >= steps[i]!) ++i;
  // Nothing at all is shown in the everyday unit, not in the smallest.
  return magnitude === 0 ? units[1]! : units[i]!;
}

/// A number with about `digits` significant digits, without needless zeros.
export function formatNumber(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e6 || magnitude < 1e-4) {
    const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split("e");
    return `${minus(mantissa!)}·10${superscript(Number(exponent))}`;
  }
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(magnitude)));
  return minus(String(Number(value.toFixed(decimals))));
}

/// A value of an SI unit as text with a unit that suits it.
export function formatQuantity(value: number, base: string): string {
  const unit = unitFor(base, value);
  return `${formatNumber(value * unit.perBase)}${unit.name ? ` ${unit.name}` : ""}`;
}

/// Seconds as a film clock: 0:03.50.
export function formatClock(seconds: number): string {
  const whole = Math.max(0, seconds);
  const minutes = Math.floor(whole / 60);
  return `${minutes}:${(whole - 60 * minutes).toFixed(2).padStart(5, "0")}`;
}

/// A count with thin spaces between groups of three digits.
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

function minus(text: string): string {
  return text.replace("-", "−");
}

function superscript(exponent: number): string {
  return String(exponent).replace(/[-\d]/g, (digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)]!);
}
