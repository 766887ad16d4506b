import { createRequire } from 'node:module';
import { startProgram } from '@orrery/testing/system';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const redocly = require.resolve('@redocly/cli/bin/cli.js');

it("openapi.json keeps Redocly's recommended rules", async () => {
  const args = [redocly, 'lint', 'openapi.json', '--extends=recommended'];
  // It would wait for a network that may drop what it tells of its use.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off' };
  await using lint = startProgram(process.execPath, [...args, '--format=json'], env);
  expect(await lint.exited, lint.output()).toBe(0);
  expect(lint.output()).toMatch(/"errors": 0,\s*"warnings": 0/);
});
