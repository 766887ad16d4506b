import type { Section } from '../layout/frame.js';
import type { Page } from '../layout/page.js';
import { type Entry, SECTIONS } from './sections.js';

/** The side bar's sections with their pages. Entries without a page are left out, and so are pages without an entry. */
export function arranged(pages: readonly Page[], sections = SECTIONS): Section[] {
  const named = new Set(sections.flatMap((section) => section.pages.map(pathOf)));
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const pagesOf = (entry: Entry): Page[] => {
    const path = pathOf(entry);
    if (path.endsWith('/*'))
      return pages.filter((page) => page.path.startsWith(path.slice(0, -1)) && !named.has(page.path));
    const page = byPath.get(path);
    if (page === undefined) return [];
    return [typeof entry === 'string' ? page : { ...page, label: entry.label }];
  };
  return sections.map(({ title, pages: entries }) => ({ title, pages: entries.flatMap(pagesOf) }));
}

const pathOf = (entry: Entry): string => (typeof entry === 'string' ? entry : entry.path);

/** The paths of pages that stand in no section. */
export function homeless(pages: readonly Page[], sections: readonly Section[]): string[] {
  const placed = new Set(sections.flatMap((section) => section.pages.map(({ path }) => path)));
  return pages.map(({ path }) => path).filter((path) => !placed.has(path));
}
