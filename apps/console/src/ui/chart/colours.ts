import { type RefObject, useEffect, useState } from 'react';

const SERIES = ['--accent', '--brass', '--ok', '--bad', '--muted', '--warn'];

/** The page's colours as a canvas needs them, and again when the theme changes. */
export function useColours(host: RefObject<HTMLElement | null>) {
  const [colours, setColours] = useState<ReturnType<typeof coloursAt>>();
  useEffect(() => {
    const read = () => host.current !== null && setColours(coloursAt(host.current));
    read();
    const themes = new MutationObserver(read);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', read);
    return () => {
      themes.disconnect();
      system.removeEventListener('change', read);
    };
  }, [host]);
  return colours;
}

/** A custom property is a text; only as the colour of an element does the browser compute it. */
function coloursAt(host: HTMLElement) {
  const probe = document.createElement('i');
  host.append(probe);
  const computed = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    accent: computed('--accent'),
    muted: computed('--muted'),
    line: computed('--line'),
    series: SERIES.map(computed),
  };
  probe.remove();
  return colours;
}
