// Colour maps made in OKLCH, the cylinder form of OKLab (Ottosson 2020), so that equal steps of the value look like
// equal steps of the colour: a sequential one for magnitudes, a diverging one for signed numbers, and a set of
// colours to tell parts apart.

/// Entries of a colour table.
export const TABLE_SIZE = 256;

/// sRGB bytes: red, green, blue, alpha per entry.
export type ColourTable = Uint8Array<ArrayBuffer>;

/// OKLCH to linear sRGB; hue in degrees.
export function oklchToLinear(lightness: number, chroma: number, hue: number): [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/// The colour of that lightness and hue with as much of the chroma as sRGB can show.
function inGamut(lightness: number, chroma: number, hue: number): [number, number, number] {
  let low = 0;
  let high = 1;
  const fits = (share: number): boolean =>
    oklchToLinear(lightness, share * chroma, hue).every((c) => c >= -1e-4 && c <= 1 + 1e-4);
  if (fits(1)) return oklchToLinear(lightness, chroma, hue);
  for (let i = 0; i < 12; ++i) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return oklchToLinear(lightness, low * chroma, hue);
}

function encode(linear: number): number {
  const c = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
}

function table(colour: (t: number) => [number, number, number]): ColourTable {
  const bytes = new Uint8Array(4 * TABLE_SIZE);
  for (let i = 0; i < TABLE_SIZE; ++i) {
    const [r, g, b] = colour(i / (TABLE_SIZE - 1));
    bytes.set([encode(r), encode(g), encode(b), 255], 4 * i);
  }
  return bytes;
}

/// For magnitudes: deep violet over blue, teal and green to pale yellow, lightness rising evenly.
export const SEQUENTIAL: ColourTable = table((t) =>
  inGamut(0.4 + 0.53 * t, 0.135 + 0.03 * Math.sin(Math.PI * t), 302 - 198 * t ** 1.05));

/// For signed numbers: blue for negative, pale grey at zero, red-orange for positive.
export const DIVERGING: ColourTable = table((t) => {
  const s = 2 * t - 1;
  const strength = Math.abs(s);
  return inGamut(0.93 - 0.42 * strength ** 1.2, 0.19 * strength ** 0.9, s < 0 ? 256 - 8 * strength : 42 - 10 * strength);
});

/// A linear colour that tells part `i` from its neighbours; hues a golden angle apart.
export function partColour(i: number): [number, number, number] {
  return inGamut([0.74, 0.62, 0.82][i % 3]!, 0.105, (38 + 137.508 * i) % 360);
}

/// A linear colour as CSS text.
export function cssColour(linear: readonly number[]): string {
  return `rgb(${linear.map((c) => encode(c)).join(" ")})`;
}

/// A colour table as a CSS gradient, from its first to its last colour.
export function cssGradient(colours: ColourTable, direction: string): string {
  const stops: string[] = [];
  for (let i = 0; i <= 24; ++i) {
    const at = 4 * Math.round((i / 24) * (TABLE_SIZE - 1));
    stops.push(`rgb(${colours[at]} ${colours[at + 1]} ${colours[at + 2]})`);
  }
  return `linear-gradient(${direction}, ${stops.join(", ")})`;
}
