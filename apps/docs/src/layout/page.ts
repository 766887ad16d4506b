import type { Html } from '../html/html.js';
import type { Part } from '../markdown/render-page.js';

/** A page of the site, without what surrounds it. */
export interface Page {
  /** Below `/docs/`; empty for `/docs` itself. */
  readonly path: string;
  readonly title: string;
  /** In the side bar, where the title is too long for it. */
  readonly label?: string;
  /** A sentence for what lists pages. */
  readonly description: string;
  readonly content: Html;
  /** What is listed beside the page and found by the search. */
  readonly parts: readonly Part[];
  /** `reference`: two columns, with code beside the text; then its parts are listed in the side bar. */
  readonly layout: 'text' | 'reference' | 'home';
}

export const urlOf = (path: string): string => (path === '' ? '/docs' : `/docs/${path}`);
