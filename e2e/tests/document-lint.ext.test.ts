import { expect, it } from 'vitest';
import { startProgram } from '../src/external/start-program.js';

it("openapi.json keeps Redocly's recommended rules", async () => {
  const args = ['node_modules/@redocly/cli/bin/cli.js', 'lint', 'openapi.json', '--extends=recommended'];
  await using lint = startProgram(process.execPath, [...args, '--format=json']);
  expect(await lint.exited, lint.output()).toBe(0);
  expect(lint.output()).toMatch(/"errors": 0,\s*"warnings": 0/);
});
