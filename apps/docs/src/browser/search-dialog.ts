import type { Entry } from '../search/entries.js';
import { createFinder, excerpt, type Found } from '../search/find.js';
import { element } from './dom.js';

const SHOWN = 12;

const input = element('input', {
  type: 'search',
  placeholder: 'Search pages and operations',
  autocomplete: 'off',
});
const list = element('div', { id: 'found', role: 'listbox', ariaLabel: 'Found' });
const status = element('p', { className: 'status', role: 'status' });
const dialog = element('dialog', { className: 'search', ariaLabel: 'Search' }, input, status, list);
let finder: Promise<ReturnType<typeof createFinder>> | undefined;
let chosen = 0;

input.role = 'combobox';
input.ariaLabel = 'Search pages and operations';
input.setAttribute('aria-controls', list.id);
input.ariaExpanded = 'false';
input.ariaAutoComplete = 'list';
document.body.append(dialog);
input.addEventListener('input', () => void show());
input.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    mark(chosen + step);
  }
  if (event.key === 'Escape') {
    // A field for searches would only be emptied.
    event.preventDefault();
    dialog.close();
  }
  if (event.key === 'Enter') (list.children[chosen] as HTMLElement | undefined)?.click();
});
// A click beside the dialog is one on its backdrop.
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog || (target as Element).closest('a') !== null) dialog.close();
});

/** Opens the search; what it searches is loaded at its first time. */
export function openSearch(): void {
  if (!dialog.open) dialog.showModal();
  input.select();
  finder ??= loadFinder();
  void show();
}

async function loadFinder(): Promise<ReturnType<typeof createFinder>> {
  status.textContent = 'Loading …';
  const answer = await fetch(document.documentElement.dataset['search'] ?? '');
  if (!answer.ok) throw new Error(String(answer.status));
  return createFinder((await answer.json()) as Entry[]);
}

async function show(): Promise<void> {
  try {
    const find = await finder;
    const words = input.value.trim();
    render(words === '' || find === undefined ? [] : find(words, SHOWN), words);
  } catch {
    finder = undefined;
    status.textContent = 'The search could not be loaded: try again, or load the page anew.';
  }
}

function render(found: readonly Found[], words: string): void {
  list.replaceChildren(...found.map(itemOf));
  input.ariaExpanded = String(found.length > 0);
  status.textContent =
    words === ''
      ? 'Type a word: an operation, an error code, a term.'
      : found.length === 0
        ? `Nothing has “${words}”.`
        : '';
  mark(0);
}

/** A link, so that it opens in a tab of its own as links do. */
function itemOf({ url, page, heading, text, terms }: Found, at: number): HTMLAnchorElement {
  const item = element(
    'a',
    { id: `found-${at}`, href: url, tabIndex: -1, role: 'option' },
    element('b', { textContent: heading }),
    element('span', { className: 'where', textContent: heading === page ? '' : page }),
    element('span', { className: 'excerpt', textContent: excerpt(text, terms) }),
  );
  item.addEventListener('pointermove', () => mark(at));
  return item;
}

function mark(at: number): void {
  const { length } = list.children;
  chosen = length === 0 ? 0 : (at + length) % length;
  for (const [index, item] of [...list.children].entries()) item.ariaSelected = String(index === chosen);
  const current = list.children[chosen];
  if (current === undefined) input.removeAttribute('aria-activedescendant');
  else {
    input.setAttribute('aria-activedescendant', current.id);
    current.scrollIntoView({ block: 'nearest' });
  }
}
