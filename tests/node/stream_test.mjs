// Streaming: 100,000 vertices keep up with 24 frames per second without growing memory, and no page slows a simulation.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execFileSync } from "node:child_process";
import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import * as support from "./page_support.mjs";

const sanitized = Boolean(process.env.SUPPLE_SANITIZE);
let browser, folder;

before(async () => {
  folder = support.showFolder(100000, 48);
  browser = await support.launchBrowser();
});
after(async () => {
  await browser?.close();
  support.stopAll();
});

const residentMegabytes = (process) =>
  Number(readFileSync(`/proc/${process.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]) / 1024;

// Speaks just enough WebSocket to ask for frames; what comes back is the caller's affair.
async function openSocket(url) {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`GET ${pathname}socket HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://${host}\r\nUpgrade: websocket\r\n` +
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c3VwcGxlc3VwcGxlc3VwcA==\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  const say = (message) => {
    const text = Buffer.from(JSON.stringify(message));
    const header = text.length < 126 ? Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0])
      : Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0]);
    socket.write(Buffer.concat([header, text]));
  };
  return { socket, say };
}

test("100k vertices reach the page faster than 24 frames per second, memory does not grow", async () => {
  const server = await support.view(join(folder, "big.supple"));
  const page = await support.openPage(browser, server.url, { width: 320, height: 240 });
  const vertices = (await page.evaluate(() => globalThis.supple.positions().length)) / 3;
  assert.ok(vertices > 99000, `${vertices} vertices`);
  // The browser draws in software here, so the stream is measured by itself: the page's own socket code asks for
  // frames as fast as they come.
  const stream = (frames) => page.evaluate(async (count) => {
    const socket = new WebSocket(new URL("socket", location.href.replace("http", "ws")));
    socket.binaryType = "arraybuffer";
    await new Promise((resolve) => (socket.onopen = resolve));
    let asked = 0, got = 0, bytes = 0;
    const ask = () => socket.send(JSON.stringify({ type: "frames", exhibit: 0, frames: [1001 + (asked++ % 48)] }));
    const start = performance.now();
    await new Promise((resolve) => {
      socket.onmessage = ({ data }) => {
        if (typeof data === "string") return;
        bytes += data.byteLength;
        if (asked < count) ask();
        if (++got === count) resolve();
      };
      for (let i = 0; i < 4; ++i) ask();
    });
    socket.close();
    return { seconds: (performance.now() - start) / 1000, bytes };
  }, frames);
  await stream(100);
  const before = residentMegabytes(server.child);
  const { seconds, bytes } = await stream(480);
  const grown = residentMegabytes(server.child) - before;
  const rate = 480 / seconds;
  console.log(`# ${rate.toFixed(0)} frames/s of ${vertices} vertices, ${(bytes / seconds / 1e6).toFixed(0)} MB/s, ` +
    `server grew by ${grown.toFixed(1)} MB`);
  assert.ok(rate > (sanitized ? 2 : 24), `${rate} frames per second`);
  assert.ok(sanitized || grown < 20, `the server grew by ${grown} MB over 576 MB of frames`);
  await page.close();
  assert.equal(await server.stop(), 0);
});

test("the page plays 100k vertices and holds its memory", async () => {
  const server = await support.view(join(folder, "big.supple"));
  const page = await support.openPage(browser, server.url, { width: 320, height: 240 });
  await page.evaluate(() => globalThis.supple.configure({ loop: true, ground: false }));
  await page.locator("body").press("Space");
  const heap = () => page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
  await page.waitForTimeout(4000);
  const before = await heap(), start = await page.evaluate(() => globalThis.supple.state().frame);
  const seen = new Set([start]);
  for (let i = 0; i < 40; ++i) {
    seen.add(await page.evaluate(() => globalThis.supple.state().frame));
    await page.waitForTimeout(100);
  }
  const grown = (await heap()) - before;
  console.log(`# page heap grew by ${grown.toFixed(1)} MB while playing, saw ${seen.size} frames`);
  assert.ok(seen.size >= 3, `saw ${seen.size} frames`);  // drawing in software is slow
  assert.ok(grown < 150, `the page grew by ${grown} MB`);
  await page.close();
  await server.stop();
});

test("a page that asks and never reads, and one that vanishes, do not slow a simulation", async () => {
  const work = mkdtempSync(join(folder, "run-"));
  execFileSync(support.makeWriggler, [join(work, "wriggler.glb"), "160"]);
  const simulate = (name, ...more) => ["simulate", join(work, "wriggler.glb"), "--body", "skinning", "-o",
    join(work, name), "--frames", "1001-1200", "--progress", "none", ...more];
  const secondsOf = (name) => JSON.parse(readFileSync(join(work, name, "report.json"))).seconds;
  const alone = await new Promise((resolve, reject) => {
    execFileSync(support.program, simulate("alone.supple"));
    resolve(secondsOf("alone.supple"));
  });
  const server = await support.startProgram(simulate("watched.supple", "--live", "--no-open"));
  const asking = [...Array(60).keys()].map((i) => 1001 + i);
  const stuck = await openSocket(server.url);
  stuck.socket.pause();
  stuck.say({ type: "frames", exhibit: 0, frames: asking });
  const gone = await openSocket(server.url);
  gone.say({ type: "frames", exhibit: 0, frames: asking });
  gone.socket.destroy();
  // The run is over when its report says so, whatever the pages do.
  for (let i = 0; i < 600; ++i) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    try {
      if (JSON.parse(readFileSync(join(work, "watched.supple", "report.json"))).status === "done") break;
    } catch { /* not there yet */ }
  }
  const watched = secondsOf("watched.supple");
  console.log(`# alone ${alone.toFixed(2)} s, with a stuck page ${watched.toFixed(2)} s`);
  assert.ok(watched < 1.5 * alone + 0.5, `${watched} s instead of ${alone} s`);
  stuck.socket.destroy();
  assert.equal(await server.ended, 0);  // the last page is closed: the program ends by itself
  rmSync(work, { recursive: true });
});

test("a running simulation is shown as it is solved", async () => {
  const work = mkdtempSync(join(folder, "live-"));
  execFileSync(support.makeWriggler, [join(work, "wriggler.glb"), "48"]);
  const server = await support.startProgram(["simulate", join(work, "wriggler.glb"), "--body", "skinning", "-o",
    join(work, "live.supple"), "--frames", "1001-1600", "--live", "--no-open", "--progress", "none"]);
  const page = await support.openPage(browser, server.url, { width: 320, height: 240 });
  await page.waitForFunction(() => globalThis.supple.state().available === 600, null, { timeout: 60000 });
  await page.evaluate(() => globalThis.supple.seek(1600));
  const shown = new Float32Array(await page.evaluate(() => Array.from(globalThis.supple.positions())));
  assert.deepEqual(shown, support.positionsOf(join(work, "live.supple"), 1600));
  await page.waitForFunction(() => globalThis.supple.graphs().find(({ name }) => name === "volume").frames.length === 600);
  await page.close();
  assert.equal(await server.ended, 0);
  rmSync(work, { recursive: true });
});
