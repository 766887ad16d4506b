import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A page of the repository's `docs/`, as Markdown. */
export interface Guide {
  /** Its path below `docs/`, with slashes and without `.md`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** The pages by their paths; none where the program was copied without the folder. */
export function readGuides(folder: string | undefined = findFolder()): ReadonlyMap<string, Guide> {
  if (folder === undefined) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const guides = names
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => guideOf(name, readFileSync(join(folder, name), 'utf8')));
  return new Map(guides.map((guide) => [guide.path, guide]));
}

function guideOf(name: string, text: string): Guide {
  const path = name.replaceAll('\\', '/').slice(0, -'.md'.length);
  return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text };
}

/** `docs/` of the repository that this program is a part of, built or not. */
function findFolder(): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, 'docs', 'concepts.md'))) return join(at, 'docs');
  return undefined;
}
