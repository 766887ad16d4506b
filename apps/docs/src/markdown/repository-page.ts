/** A page of the repository, as Markdown. */
export interface RepositoryPage {
  /** Its path from the root of the repository, with slashes: `docs/guides/leaderboard.md`. */
  readonly file: string;
  /** Its path below `/docs/`: `guides/leaderboard`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** Pages outside `docs/`, with their paths below `/docs/`. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'start',
  'examples/README.md': 'examples',
  'packages/sdk/README.md': 'sdk',
};

/** Under which path the site has a file of the repository; undefined where it has not. A folder's page is its README. */
export function sitePathOf(file: string): string | undefined {
  const path = file.replace(/\/$/, '');
  if (path === 'docs/adr') return 'adr';
  const elsewhere = ELSEWHERE[path] ?? ELSEWHERE[`${path}/README.md`];
  return elsewhere ?? /^docs\/(.+)\.md$/.exec(path)?.[1];
}

export function repositoryPage(file: string, text: string): RepositoryPage {
  const path = sitePathOf(file) ?? file;
  return { file, path, title: plain(/^# (.+)$/m.exec(text)?.[1] ?? path), text };
}

const plain = (heading: string): string => heading.replaceAll(/[`*]/g, '');
