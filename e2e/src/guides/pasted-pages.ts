import { readdirSync } from 'node:fs';
import { join } from 'node:path';

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
  'docs/on-chain.md',
  'docs/history.md',
  'docs/operations.md',
];
