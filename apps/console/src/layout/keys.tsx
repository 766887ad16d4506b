import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { TABS } from '../deployments/deployment-tabs.js';
import { Button } from '../ui/button.js';
import { lazily } from '../ui/lazily.js';
import {
  createKeySequence,
  isTyping,
  type Shortcut,
  shortcutsNow,
  useKeysAreOn,
  useShortcuts,
} from '../ui/shortcuts.js';

const Palette = lazily({ what: 'The search', meanwhile: 'Loading' }, () => import('../palette/palette.js'));
const ShortcutList = lazily(
  { what: 'The list', meanwhile: 'Loading' },
  () => import('../palette/shortcut-list.js'),
);

const OPEN = 'orrery:open';
type Opened = 'palette' | 'shortcuts';
const open = (what: Opened) => dispatchEvent(new CustomEvent(OPEN, { detail: what }));

/** The keys that work on every page, and what they open. */
export function Keys() {
  const [opened, setOpened] = useState<Opened>();
  const areOn = useKeysAreOn();
  useShortcuts(useGoShortcuts());
  useEffect(() => {
    const press = createKeySequence();
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if ((ctrlKey || metaKey) && key.toLowerCase() === 'k') {
        event.preventDefault();
        setOpened('palette');
      }
      if (!areOn || ctrlKey || metaKey || altKey || event.defaultPrevented || isTyping(target)) return;
      const shortcut = press(event, shortcutsNow());
      if (shortcut === undefined) return;
      event.preventDefault();
      shortcut.run();
    };
    const onOpen = (event: Event) => setOpened((event as CustomEvent<Opened>).detail);
    document.addEventListener('keydown', onKeyDown);
    addEventListener(OPEN, onOpen);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      removeEventListener(OPEN, onOpen);
    };
  }, [areOn]);
  const close = () => setOpened(undefined);
  if (opened === 'palette') return <Palette onClose={close} />;
  return opened === 'shortcuts' && <ShortcutList onClose={close} />;
}

/** The keys of pages of a deployment, by the tab. */
const TAB_KEYS: Readonly<Record<string, string>> = {
  overview: 'e',
  live: 'l',
  data: 'd',
  run: 'r',
  verify: 'v',
  'what-if': 'i',
  schedules: 't',
  pushes: 'p',
  payments: 'y',
  ai: 'a',
  settings: 's',
};

function useGoShortcuts(): Shortcut[] {
  const navigate = useNavigate();
  const { world, deployment } = useParams({ strict: false });
  const inDeployment =
    world === undefined || deployment === undefined
      ? []
      : TABS.flatMap(([to, label]) => {
          const key = TAB_KEYS[to];
          const params = { world, deployment };
          const run = () => void navigate({ to: `/worlds/$world/deployments/$deployment/${to}`, params });
          return key === undefined ? [] : [{ keys: `g ${key}`, words: `Go to ${label}`, run }];
        });
  return [
    { keys: '?', words: 'Show this list', run: () => open('shortcuts') },
    { keys: 'g w', words: 'Go to the worlds', run: () => void navigate({ to: '/' }) },
    { keys: 'g k', words: 'Go to the API keys', run: () => void navigate({ to: '/keys' }) },
    ...(world === undefined
      ? []
      : [
          {
            keys: 'g o',
            words: 'Go to the world',
            run: () => void navigate({ to: '/worlds/$world', params: { world } }),
          },
        ]),
    ...inDeployment,
  ];
}

/** For those who have no keyboard, or do not know the keys. */
export const FindButton = () => (
  <Button size="small" onClick={() => open('palette')} className="w-full justify-between text-muted">
    Go to … <kbd className="font-mono text-xs">Ctrl K</kbd>
  </Button>
);

export const ShortcutsButton = () => (
  <button type="button" className="block text-muted hover:text-text" onClick={() => open('shortcuts')}>
    Keyboard shortcuts
  </button>
);
