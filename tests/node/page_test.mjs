// The page as a user meets it, in a real browser: what it shows is what the cache holds.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as support from "./page_support.mjs";

let browser, folder, page;
const servers = [];
const caches = ["sphere.supple", "shifted.supple", "other.supple", "damaged.supple", "empty.supple"];
const plain = { exhibit: 0, other: null, compare: "off", colour: "surface", range: null, wireframe: false, bones: false,
  mesh: false, colliders: false, skin: true, ground: true };

async function open(...names) {
  const server = await support.view(...names.map((name) => join(folder, name)));
  servers.push(server);
  return support.openPage(browser, server.url);
}

// Most tests look at one page with all caches: loading a page costs seconds where a browser draws in software.
before(async () => {
  folder = support.showFolder();
  mkdirSync(join(folder, "empty.supple"));
  browser = await support.launchBrowser();
  page = await open(...caches);
});
beforeEach(async () => {
  page.problems.length = 0;
  await configure(page, plain);
  await seek(page, 1001);
});
after(async () => {
  await browser?.close();
  for (const server of servers) await server.stop();
  support.stopAll();
});

const shown = async (page, which = "main") =>
  new Float32Array(await page.evaluate((w) => Array.from(globalThis.supple.positions(w)), which));
const state = (page) => page.evaluate(() => globalThis.supple.state());
const configure = (page, options) => page.evaluate((o) => globalThis.supple.configure(o), options);
const seek = (page, frame) => page.evaluate((f) => globalThis.supple.seek(f), frame);

test("loads the first frame of a cache", async () => {
  const now = await state(page);
  assert.equal(now.frame, 1001);
  assert.equal(now.first, 1001);
  assert.equal(now.last, 1006);
  assert.equal(now.available, 6);
  assert.equal(now.error, null);
  assert.match(await page.title(), /sphere/);
  assert.deepEqual(page.problems, []);
});

test("every frame's positions are the cache's, bit for bit", async () => {
  for (const frame of [1004, 1001, 1006, 1003, 1002, 1005]) {
    await seek(page, frame);
    assert.equal((await state(page)).frame, frame);
    assert.deepEqual(await shown(page), support.positionsOf(join(folder, "sphere.supple"), frame));
  }
});

test("a picture differs from frame to frame and is not empty", async () => {
  const pictures = new Set();
  for (const frame of [1001, 1004, 1006]) {
    await seek(page, frame);
    const data = await page.evaluate(() => globalThis.supple.picture(160, 100));
    const png = Buffer.from(data.split(",")[1], "base64");
    assert.equal(png.readUInt32BE(16), 160);
    assert.equal(png.readUInt32BE(20), 100);
    assert.ok(png.length > 1000, `a picture of ${png.length} bytes is empty`);
    pictures.add(data);
  }
  assert.equal(pictures.size, 3);
});

test("plays, pauses and loops in real time", async () => {
  await configure(page, { loop: true, speed: 0.1 });  // slow enough for a browser that draws in software
  await page.locator("body").press("Space");
  assert.equal((await state(page)).playing, true);
  const seen = new Set();
  for (let i = 0; i < 400 && seen.size < 4; ++i) {
    seen.add((await state(page)).frame);
    await page.waitForTimeout(25);
  }
  assert.ok(seen.size >= 4, `only saw frames ${[...seen]}`);
  await page.locator("body").press("Space");
  const still = (await state(page)).frame;
  await page.waitForTimeout(200);
  assert.equal((await state(page)).frame, still);
  assert.equal((await state(page)).playing, false);
});

test("the scrubber, arrow keys, Home and End go to frames", async () => {
  await page.locator("body").press("End");
  await page.waitForFunction(() => globalThis.supple.state().frame === 1006);
  await page.locator("body").press("ArrowLeft");
  await page.waitForFunction(() => globalThis.supple.state().frame === 1005);
  await page.locator("body").press("Home");
  await page.waitForFunction(() => globalThis.supple.state().frame === 1001);
  await page.locator("body").press("ArrowRight");
  await page.waitForFunction(() => globalThis.supple.state().frame === 1002);
});

test("every overlay can be switched on and off", async () => {
  const { overlays } = await state(page);
  assert.deepEqual(overlays, { bones: true, mesh: true, colliders: true });
  const plain = await page.evaluate(() => globalThis.supple.picture(160, 120));
  for (const name of ["bones", "mesh", "colliders", "wireframe"]) {
    await configure(page, { [name]: true });
    assert.equal((await state(page)).options[name], true);
    assert.notEqual(await page.evaluate(() => globalThis.supple.picture(160, 120)), plain, `${name} shows nothing`);
    await configure(page, { [name]: false });
    assert.equal(await page.evaluate(() => globalThis.supple.picture(160, 120)), plain, `${name} stays`);
  }
  for (const name of ["skin", "ground"]) {
    await configure(page, { [name]: false });
    assert.notEqual(await page.evaluate(() => globalThis.supple.picture(160, 120)), plain);
    await configure(page, { [name]: true });
  }
  assert.deepEqual(page.problems, []);
});

test("a cache without overlays says so", async () => {
  const wriggler = join(folder, "wriggler.glb");
  execFileSync(support.makeWriggler, [wriggler, "16"]);
  const page = await open("wriggler.glb");
  const now = await state(page);
  assert.deepEqual(now.overlays, { bones: true, mesh: false, colliders: false });
});

test("compares two caches, side by side and as overlay", async () => {
  for (const compare of ["side", "overlay"]) {
    await configure(page, { compare, other: 1 });
    await seek(page, 1003);
    assert.deepEqual(await shown(page, "main"), support.positionsOf(join(folder, "sphere.supple"), 1003));
    assert.deepEqual(await shown(page, "other"), support.positionsOf(join(folder, "shifted.supple"), 1003));
  }
  await configure(page, { compare: "off" });
  assert.deepEqual(page.problems, []);
});

test("the heat map shows the distance of every vertex", async () => {
  await configure(page, { compare: "overlay", other: 1, colour: "distance" });
  await seek(page, 1002);
  const values = await page.evaluate(() => {
    const { values, min, max } = globalThis.supple.values();
    return { values: Array.from(values), min, max };
  });
  const a = support.positionsOf(join(folder, "sphere.supple"), 1002);
  const b = support.positionsOf(join(folder, "shifted.supple"), 1002);
  assert.equal(values.values.length, a.length / 3);
  values.values.forEach((value, v) => {
    const distance = Math.hypot(a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2]);
    assert.ok(Math.abs(value - distance) < 1e-6, `vertex ${v}: ${value} instead of ${distance}`);
    assert.ok(Math.abs(value - v * 1e-4) < 1e-6, `vertex ${v}: ${value} instead of ${v * 1e-4}`);
  });
});

test("caches of different vertex counts can be compared, but have no distance", async () => {
  await configure(page, { compare: "side", other: 2 });
  await seek(page, 1002);
  await assert.rejects(configure(page, { colour: "distance" }), /vert/);
});

test("colour maps show the cache's numbers", async () => {
  for (const name of ["stretch", "volume", "contact"]) {
    await configure(page, { colour: `map/${name}` });
    await seek(page, 1004);
    const values = await page.evaluate(() => Array.from(globalThis.supple.values().values));
    assert.deepEqual(new Float32Array(values),
                     support.readChunk(join(folder, "sphere.supple/frames/1004.chunk"))[`map/${name}`]);
  }
  await assert.rejects(configure(page, { colour: "map/nonsense" }), /nonsense/);
});

test("graphs show the report's numbers", async () => {
  const graphs = Object.fromEntries((await page.evaluate(() => globalThis.supple.graphs())).map((g) => [g.name, g]));
  const frames = [1001, 1002, 1003, 1004, 1005, 1006];
  assert.deepEqual(graphs.volume.frames, frames);
  graphs.volume.values.forEach((value, i) => assert.ok(Math.abs(value - (0.5 + 0.001 * i)) < 1e-12));
  assert.deepEqual(graphs.iterations.values, [3, 4, 5, 6, 7, 8]);
  graphs.residual.values.forEach((value, i) => assert.ok(Math.abs(value - 1e-3 / (i + 1)) < 1e-12));
  assert.ok(Object.keys(graphs).some((name) => /time|seconds|step/.test(name)), `${Object.keys(graphs)}`);
});

test("resizing the window keeps the view in shape", async () => {
  for (const [width, height] of [[1400, 500], [390, 800], [1000, 700]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(150);
    const { overflow, canvas } = await page.evaluate(() => ({
      overflow: document.documentElement.scrollWidth - innerWidth,
      canvas: document.querySelector("canvas").getBoundingClientRect().toJSON(),
    }));
    assert.ok(overflow <= 0, `${overflow} px too wide at ${width}`);
    assert.ok(canvas.width > 200 && canvas.height > 150, `${canvas.width} x ${canvas.height} at ${width}`);
  }
  assert.deepEqual(page.problems, []);
});

test("a damaged frame shows a readable message and the rest still plays", async () => {
  await configure(page, { exhibit: 3 });
  await seek(page, 1002);
  await seek(page, 1003).catch(() => {});
  await page.waitForFunction(() => globalThis.supple.state().error !== null);
  assert.match((await state(page)).error, /1003/);
  assert.match(await page.locator("body").innerText(), /1003/);
  await seek(page, 1004);
  assert.deepEqual(await shown(page), support.positionsOf(join(folder, "damaged.supple"), 1004));
});

test("a file that cannot be opened is named beside those that can", async () => {
  await configure(page, { exhibit: 4 }).catch(() => {});
  await page.waitForFunction(() => globalThis.supple.state().error !== null);
  assert.match(await page.locator("body").innerText(), /empty\.supple/);
  await configure(page, { exhibit: 0 });
  assert.equal((await state(page)).error, null);
});

test("help lists the keyboard shortcuts; dark and light differ", async () => {
  await page.locator("body").press("?");
  assert.match(await page.locator("body").innerText(), /shortcut/i);
  await page.locator("body").press("Escape");
  const pictures = [];
  for (const theme of ["dark", "light"]) {
    await configure(page, { theme });
    pictures.push(await page.evaluate(() => globalThis.supple.picture(160, 100)));
  }
  assert.notEqual(pictures[0], pictures[1]);
});

test("a server that goes away is told to the user", async () => {
  const server = await support.view(join(folder, "sphere.supple"));
  const page = await support.openPage(browser, server.url);
  assert.equal(await server.stop(), 0);
  await page.waitForFunction(() => /does not answer/.test(document.body.innerText));
});
