import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ELSEWHERE, type RepositoryPage, repositoryPage } from '../markdown/repository-page.js';
import type { OpenApi } from '../openapi/document.js';

/** What the site is made of, each kept in one place: the files of the repository. */
export interface Sources {
  readonly pages: readonly RepositoryPage[];
  /** By their paths from the root of the repository. */
  readonly pictures: ReadonlyMap<string, Buffer>;
  readonly document: OpenApi;
}

/** @param root the folder of the repository */
export function readSources(root: string): Sources {
  const text = (file: string) => readFileSync(join(root, file), 'utf8');
  const files = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .sort();
  const pages = [...Object.keys(ELSEWHERE), ...files.filter((file) => file.endsWith('.md'))];
  const pictures = files.filter((file) => file.endsWith('.png'));
  return {
    pages: pages.map((file) => repositoryPage(file, text(file))),
    pictures: new Map(pictures.map((file) => [file, readFileSync(join(root, file))])),
    document: JSON.parse(text('openapi.json')),
  };
}
