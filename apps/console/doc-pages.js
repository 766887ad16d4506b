import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MODULE = 'virtual:doc-pages';
const LOADED = `\0${MODULE}`;

/** The titles and addresses of the pages that the gateway serves below `/docs`, as a module. */
export function docPages(folder) {
  return {
    name: 'doc-pages',
    resolveId: (id) => (id === MODULE ? LOADED : undefined),
    load(id) {
      if (id !== LOADED) return undefined;
      const pages = [...pagesIn(join(folder, 'guides'), '/docs/guides'), ...pagesIn(folder, '/docs')];
      return `export default ${JSON.stringify([{ title: 'Documentation', url: '/docs' }, ...pages])}`;
    },
  };
}

function pagesIn(folder, base) {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => {
      const [, title] = /^# (.+)$/m.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
      return { title: title ?? file, url: `${base}/${file.slice(0, -3)}` };
    });
}
