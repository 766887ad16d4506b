import { useState } from 'react';
import { type Option, Select } from './field.js';

type Theme = 'system' | 'light' | 'dark';

const ITEM = 'orrery.theme';

/** What was chosen on this machine; `system` follows its setting. */
function storedTheme(): Theme {
  const stored = localStorage.getItem(ITEM);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme(): void {
  const theme = storedTheme();
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
}

const THEMES: readonly Option<Theme>[] = [
  ['system', 'System colours'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (next: Theme) => {
    if (next === 'system') localStorage.removeItem(ITEM);
    else localStorage.setItem(ITEM, next);
    applyTheme();
    setTheme(next);
  };
  return (
    <Select
      aria-label="Colours of the console"
      className="rounded-md border border-line bg-transparent px-1.5 py-1 text-sm text-muted"
      value={theme}
      onChange={choose}
      options={THEMES}
    />
  );
}
