import { createRequire } from 'node:module';
import { startProgram } from '@orrery/testing/system';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const redocly = require.resolve('@redocly/cli/bin/cli.js');

it("openapi.json keeps Redocly's recommended rules", async () => {
  const args = [redocly, 'lint', 'openapi.json', '--extends=recommended'];
  await using lint = startProgram(process.execPath, [...args, '--format=json']);
  expect(await lint.exited, lint.output()).toBe(0);
  expect(lint.output()).toMatch(/"errors": 0,\s*"warnings": 0/);
});
