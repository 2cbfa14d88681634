// Checks glTF files with the Khronos validator: node validate.mjs FILE...
// Prints every error and the number of warnings of each file; leaves with status 1 where a file has
// an error or cannot be read. Buffers and images are read from beside the file that names them.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import validator from 'gltf-validator';

const severityError = 0;

/** The errors of one file, a line each, and how many warnings it has. */
async function validate(file) {
  const folder = path.dirname(file);
  const report = await validator.validateBytes(new Uint8Array(await readFile(file)), {
    uri: path.basename(file),
    format: path.extname(file).slice(1).toLowerCase(),
    maxIssues: 0,
    writeTimestamp: false,
    externalResourceFunction: async (uri) =>
      new Uint8Array(await readFile(path.join(folder, decodeURIComponent(uri)))),
  });
  const errors = report.issues.messages
    .filter((issue) => issue.severity === severityError)
    .map((issue) => `${issue.code} at ${issue.pointer ?? `byte ${issue.offset}`}: ${issue.message}`);
  return { errors, warnings: report.issues.numWarnings };
}

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error('usage: node validate.mjs FILE...');
  process.exit(2);
}
for (const file of files) {
  let result;
  try {
    result = await validate(file);
  } catch (problem) {
    result = { errors: [`not readable: ${problem.message ?? problem}`], warnings: 0 };
  }
  for (const error of result.errors) console.log(`${file}: error: ${error}`);
  console.log(`${file}: ${result.errors.length} errors, ${result.warnings} warnings`);
  if (result.errors.length > 0) process.exitCode = 1;
}
