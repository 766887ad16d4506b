import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PASTED_PAGES } from '../src/guides/pasted-pages.js';

const root = join(import.meta.dirname, '../..');
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const inFolder = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const pages = [
  'README.md',
  'examples/README.md',
  'packages/sdk/README.md',
  ...inFolder('docs'),
  ...inFolder('docs/guides'),
];

interface Commands {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const blocks: Commands[] = pages.flatMap((page) =>
  [...textOf(page).matchAll(/^```(sh|bash)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({
    page,
    language,
    text,
  })),
);

/** What a reader starts, in the words of the pages: tests that need a server, a chain or a facilitator start it so. */
const STARTS = [
  /^npm ci && npm (start|test)$/,
  /^(PAYMENTS_FILE=\S+ |CHAINS_FILE=\S+ )?npm start$/,
  /^npm run (local-payments|example \w+)$/,
  /^npx anvil$/,
  /^export (CHAINS_FILE|LOCAL_KEY)=\S+$/,
  /^npm run --silent orrery -- chains deploy --chain local --json$/,
];

/** Tests that run blocks of `sh`: of which page, and how those begin. */
const RUN_BY: readonly { readonly page: string; readonly begins: RegExp; readonly test: string }[] = [
  { page: 'docs/cli.md', begins: /^(orrery|cat) /, test: 'e2e/tests/pages.e2e.test.ts' },
  // In the shells themselves.
  { page: 'docs/cli.md', begins: /^source <\(orrery completion /, test: 'e2e/tests/cli.e2e.test.ts' },
];

const commandsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/(^|\s+)# .*$/, '').trim())
    .filter((line) => line !== '');

/** Why a block is not run from its page, in its first line, which readers see too. */
const reasonOf = (text: string): string | undefined =>
  /^# (No test (?:of every day )?runs this: .{10,}|A test .*: \S+\.test\.ts)\n/.exec(text)?.[1];

function isRun({ page, language, text }: Commands): boolean {
  if (language === 'bash') return PASTED_PAGES.includes(page);
  if (RUN_BY.some((one) => one.page === page && one.begins.test(text))) return true;
  return commandsOf(text).every((line) => STARTS.some((start) => start.test(line)));
}

describe('the commands of the pages', () => {
  it('are there', () => {
    expect(blocks.length).toBeGreaterThan(100);
    expect(pages).toEqual(expect.arrayContaining([...PASTED_PAGES]));
  });

  it.each(blocks)('$page: $text', (block) => {
    const reason = reasonOf(block.text);
    expect(isRun(block) || reason !== undefined, 'is run by a test, or says why not').toBe(true);
    const [test] = reason?.match(/\S+\.test\.ts$/) ?? [];
    if (test !== undefined) expect(existsSync(join(root, test)), test).toBe(true);
  });

  it.each(RUN_BY)('$page is read by $test', ({ page, test }) => {
    const name = page.replace('docs/', '');
    expect(textOf(test).includes(name) || test === 'e2e/tests/cli.e2e.test.ts').toBe(true);
  });
});
