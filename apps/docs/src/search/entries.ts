import { type Page, urlOf } from '../layout/page.js';

/** What a search finds: a part of a page. The names are short, since the browser loads all of them. */
export interface Entry {
  readonly id: number;
  readonly url: string;
  /** The title of the page. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** The parts of the pages, as the search of the browser loads them. */
export const entriesOf = (pages: readonly Page[]): Entry[] =>
  pages
    .flatMap((page) => {
      const parts = page.parts.length === 0 ? [whole(page)] : page.parts;
      return parts.map(({ anchor, heading, text }) => ({
        url: anchor === '' ? urlOf(page.path) : `${urlOf(page.path)}#${anchor}`,
        page: page.title,
        heading,
        text,
      }));
    })
    .map((entry, id) => ({ id, ...entry }));

const whole = ({ title, description }: Page) => ({ anchor: '', heading: title, text: description });
