import { all } from './dom.js';

/** On a narrow page the side bar lies over it; Escape and a click beside it close it. Without scripts a link leads there. */
export function addMenu(): void {
  const [menu] = all('.top .menu');
  const [bar] = all('#pages');
  if (menu === undefined || bar === undefined) return;
  bar.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'center' });
  const set = (isOpen: boolean) => {
    bar.classList.toggle('open', isOpen);
    menu.ariaExpanded = String(isOpen);
  };
  menu.role = 'button';
  set(false);
  const toggle = (event: Event) => {
    event.preventDefault();
    const isOpen = !bar.classList.contains('open');
    set(isOpen);
    if (isOpen) bar.querySelector<HTMLElement>('summary')?.focus();
  };
  menu.addEventListener('click', toggle);
  menu.addEventListener('keydown', (event) => {
    if (event.key === ' ') toggle(event);
  });
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !bar.classList.contains('open')) return;
    set(false);
    menu.focus();
  });
  addEventListener('click', ({ target }) => {
    const isInside = bar.contains(target as Node) || menu.contains(target as Node);
    if (!isInside || (target as Element).closest('#pages a') !== null) set(false);
  });
}
