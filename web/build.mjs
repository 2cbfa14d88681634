// Bundles the page into a folder: node build.mjs FOLDER. Type checking is `npm run check`.
import { build } from "esbuild";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "dist");

await mkdir(folder, { recursive: true });
await build({
  entryPoints: [join(here, "src/main.ts")],
  outfile: join(folder, "app.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "eof",
  logLevel: "warning",
});
for (const name of await readdir(join(here, "static")))
  await copyFile(join(here, "static", name), join(folder, name));
