import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const ITEM = 'orrery.theme';

/** What was chosen on this machine; `system` follows its setting. */
export function storedTheme(): Theme {
  const stored = localStorage.getItem(ITEM);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(ITEM);
  else localStorage.setItem(ITEM, theme);
  applyTheme(theme);
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'System colours'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (next: Theme) => {
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <select
      aria-label="Colours of the console"
      value={theme}
      onChange={(event) => choose(event.target.value as Theme)}
      className="rounded-md border border-line bg-transparent px-1.5 py-1 text-sm text-muted"
    >
      {THEMES.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}
