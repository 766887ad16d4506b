import { choose, chosen } from './choices.js';

export function addThemeSwitch(): void {
  const select = document.querySelector<HTMLSelectElement>('[data-theme-switch]');
  if (select === null) return;
  const theme = chosen('theme');
  select.value = theme === 'light' || theme === 'dark' ? theme : 'system';
  select.parentElement?.removeAttribute('hidden');
  select.addEventListener('change', () => {
    const value = select.value === 'system' ? null : select.value;
    choose('theme', value);
    if (value === null) delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
  });
}
