import { all } from './dom.js';

/** Lets the keyboard scroll what is wider or longer than its place, and nothing else: each is one more stop of the Tab key. */
export function markScrollable(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) mark(target as HTMLElement);
  });
  for (const one of all('main pre, main .table, .shown')) observer.observe(one);
}

function mark(one: HTMLElement): void {
  const scrolls = one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1;
  if (!scrolls) {
    one.removeAttribute('tabindex');
    one.removeAttribute('role');
    one.ariaLabel = null;
    return;
  }
  one.tabIndex = 0;
  one.role = 'group';
  one.ariaLabel = one.matches('pre') ? 'Code' : one.matches('.table') ? 'Table' : 'Examples';
}
