// What the tests of the page share: the program serving caches, a browser looking at it, and an own reader of chunks.
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const program = process.env.SUPPLE_PROGRAM ?? "build/release/supple";
export const makeShow = process.env.SUPPLE_SHOW ?? "build/release/make_show";
export const makeWriggler = process.env.SUPPLE_WRIGGLER ?? "build/release/make_wriggler";

/** A folder with the caches of make_show; removed at the end of the process. */
export function showFolder(...sizes) {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "supple-page-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  execFileSync(makeShow, [folder, ...sizes.map(String)]);
  return folder;
}

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Ends whatever a failed test has left running. */
export const stopAll = () => running.forEach((child) => child.kill("SIGKILL"));

/** Starts a command of the program that serves a page; resolves once it has said where. */
export async function startProgram(args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let output = "", errors = "";
  child.stderr.on("data", (data) => (errors += data));
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (data) => {
      output += data;
      const found = output.match(/http:\/\/\S+\//);
      if (found) resolve(found[0]);
    });
    ended.then((code) => reject(new Error(`ended with ${code}: ${errors}`)));
  });
  const stop = async () => {
    child.kill("SIGINT");
    return ended;
  };
  running.add(child);
  ended.then(() => running.delete(child));
  return { child, url, stop, ended, errors: () => errors };
}

/** Serves files as a user would. */
export const view = (...files) => startProgram(["view", "--no-open", ...files]);

/** A browser that draws in software. */
export function launchBrowser() {
  return chromium.launch({
    executablePath: process.env.SUPPLE_BROWSER ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--enable-precise-memory-info"],
  });
}

/** Opens the page of a server and waits until something is on screen; page errors end the test. */
export async function openPage(browser, url, size = { width: 480, height: 360 }) {
  const page = await browser.newPage({ viewport: size });
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.setDefaultTimeout(120000);  // drawing in software is slow on a busy machine
  await page.goto(url, { timeout: 120000 });
  await page.waitForFunction(() => globalThis.supple !== undefined);
  await page.evaluate(() => globalThis.supple.ready);
  return page;
}

/** The arrays of a chunk by name, read after docs/cache.md. */
export function readChunk(path) {
  const bytes = readFileSync(path);
  const at = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const arrays = {};
  let offset = 32;
  for (let i = 0; i < at.getUint32(12, true); ++i) {
    const length = bytes[offset];
    const name = bytes.toString("utf8", offset + 1, offset + 1 + length);
    offset += 1 + length;
    const type = bytes[offset];
    const start = Number(at.getBigUint64(offset + 5, true)), size = Number(at.getBigUint64(offset + 13, true));
    const copy = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + start + size);
    arrays[name] = type === 1 ? new Int32Array(copy) : type === 2 ? new Float32Array(copy) : copy;
    offset += 21;
  }
  return arrays;
}

/** The positions of a frame as the cache stores them. */
export const positionsOf = (cache, frame) => readChunk(join(cache, "frames", `${frame}.chunk`)).positions;
