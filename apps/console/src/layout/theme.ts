export type Theme = 'system' | 'light' | 'dark';

const PLACE = 'orrery.theme';

/** What was chosen on this machine; `system` follows its setting. */
export function storedTheme(): Theme {
  const stored = localStorage.getItem(PLACE);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, theme);
  applyTheme(theme);
}
