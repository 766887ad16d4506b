import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Lets replies send files of these folders, each in the compressed form beside it that the client takes. */
export function addStaticFiles(app: FastifyInstance, folders: readonly (string | undefined)[]): void {
  const root = folders.filter((folder) => folder !== undefined);
  if (root.length > 0)
    app.register(fastifyStatic, { root, serve: false, preCompressed: true, cacheControl: false });
}

/**
 * A folder that an app's build has written, by its path from the root of the repository; undefined where it was not built, or
 * not copied with the program.
 */
export function findBuilt(path: string): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); at !== dirname(at); at = dirname(at)) {
    const folder = join(at, path);
    if (existsSync(join(folder, 'index.html'))) return folder;
  }
  return undefined;
}

/** Of files that are named by their contents. */
export const FOREVER = { 'cache-control': 'public, max-age=31536000, immutable' };

/** Whether an `Accept` header is that of a browser which opens a page, and not of a program. */
export const wantsPage = (accept = ''): boolean => /(^|,)\s*text\/html\s*(;|,|$)/i.test(accept);
