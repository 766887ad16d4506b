import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';

const root = join(import.meta.dirname, '../../..');
const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`);

/**
 * Pages whose blocks of `bash` a test pastes into shells, in this order, all in one data directory: those after the guides
 * use what the guides have made.
 */
export const PASTED_PAGES: readonly string[] = [
  'README.md',
  ...guides,
  'docs/concepts.md',
  'docs/schedules.md',
  'docs/ai.md',
  'docs/public-execution.md',
  'docs/play.md',
  'docs/on-chain.md',
  'docs/history.md',
  'docs/operations.md',
];

/** One fenced block of a page. */
export interface Block {
  /** `bash`: pasted by the reader. `sh`: begins what runs on beside it. `json`, `text`: what was answered. */
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a page of the repository, in their order. */
export function readPage(path: string): readonly Block[] {
  const page = readFileSync(join(repositoryRoot, path), 'utf8');
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}
