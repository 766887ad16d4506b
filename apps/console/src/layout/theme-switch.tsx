import { useState } from 'react';
import { chooseTheme, storedTheme, type Theme } from './theme.js';

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
