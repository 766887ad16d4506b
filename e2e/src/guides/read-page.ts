import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';

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
