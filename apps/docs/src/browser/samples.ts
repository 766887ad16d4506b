import { choose } from './choices.js';
import { all, element } from './dom.js';

const KINDS = [
  ['curl', 'curl'],
  ['sdk', 'SDK'],
  ['cli', 'CLI'],
] as const;

/** Buttons over the examples of each call; what is chosen holds for all of them, on every page. */
export function addSampleSwitches(): void {
  const buttons = all('.samples').flatMap((samples) => {
    const made = KINDS.map(([kind, title]) => buttonFor(kind, title));
    samples.prepend(element('div', { className: 'switch' }, ...made));
    return made;
  });
  const show = (kind: string) => {
    document.documentElement.dataset['sample'] = kind;
    for (const button of buttons) button.ariaPressed = String(button.value === kind);
  };
  for (const button of buttons)
    button.addEventListener('click', () => {
      const before = button.getBoundingClientRect().top;
      choose('sample', button.value);
      show(button.value);
      // Examples above have other heights now: what was clicked stays where it was.
      scrollBy(0, button.getBoundingClientRect().top - before);
    });
  show(document.documentElement.dataset['sample'] ?? 'curl');
}

const buttonFor = (value: string, textContent: string): HTMLButtonElement =>
  element('button', { type: 'button', value, textContent });
