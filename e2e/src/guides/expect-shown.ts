import { expect } from 'vitest';
import type { Answered } from './run-page.js';

/**
 * The output has what the page shows: of JSON the last answer has these members, and none before it is an error; of text
 * these lines. `…` is anything.
 */
export function expectShown({ commands, output, shown }: Answered): void {
  if (shown === undefined) {
    expectNoFailure(commands, output);
    return;
  }
  if (shown.language === 'text') {
    expect(output, commands).toMatch(
      new RegExp(shown.text.trim().split('…').map(escaped).join('[\\s\\S]*?')),
    );
    return;
  }
  const lines = output.trim().split('\n');
  const last = lines.pop() ?? '';
  expectNoFailure(commands, lines.join('\n'));
  expect(JSON.parse(last), `${commands}\n${output}`).toMatchObject(pattern(JSON.parse(shown.text)) as object);
}

/** Where a page shows no answer, none of its answers is an error. */
function expectNoFailure(commands: string, output: string): void {
  expect(output, commands).not.toContain('"success":false');
}

const escaped = (part: string): string => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

function pattern(value: unknown): unknown {
  if (typeof value === 'string' && value.includes('…'))
    return value === '…'
      ? expect.anything()
      : expect.stringMatching(value.split('…').map(escaped).join('.*'));
  if (Array.isArray(value)) return value.map(pattern);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, pattern(child)]));
}
