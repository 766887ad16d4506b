/** What a page says of one metric: its help and type, then its samples. */
interface Family {
  readonly about: string[];
  readonly samples: Set<string>;
}

/**
 * Joins pages in Prometheus' text format: all lines of a metric must stand together, and what it is must be said once.
 * A sample that two pages give alike (`target_info`) appears once; other comments count as samples of theirs.
 */
export function mergePages(pages: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const page of pages) addPage(families, page);
  return [...families.values()]
    .flatMap(({ about, samples }) => [...about, ...samples])
    .map((line) => `${line}\n`)
    .join('');
}

function addPage(families: Map<string, Family>, page: string): void {
  let family: Family = { about: [], samples: new Set() };
  let isKnown = false;
  for (const line of page.split('\n')) {
    const [, word, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (word === 'HELP') {
      isKnown = families.has(name);
      family = families.get(name) ?? { about: [], samples: new Set() };
      families.set(name, family);
    }
    if (word !== undefined && !isKnown) family.about.push(line);
    if (word === undefined && line !== '') family.samples.add(line);
  }
}
