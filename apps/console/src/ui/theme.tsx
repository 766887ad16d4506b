import { useState } from 'react';
import { type Option, Select } from './field.js';
import { chooseZone, useZone, type Zone } from './zone.js';

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

const ZONES: readonly Option<Zone>[] = [
  ['local', 'Local time'],
  ['utc', 'UTC'],
];

const SWITCH = 'rounded-md border border-line bg-transparent px-1.5 py-1 text-sm text-muted';

/** By which clock times are shown. */
export const ZoneSwitch = () => (
  <Select<Zone>
    aria-label="Clock of the console"
    className={SWITCH}
    value={useZone()}
    onChange={chooseZone}
    options={ZONES}
  />
);

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
      className={SWITCH}
      value={theme}
      onChange={choose}
      options={THEMES}
    />
  );
}
