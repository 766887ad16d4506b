/** What the reader has chosen on this machine; the colours are those of the console, too. */
const ITEMS = { theme: 'orrery.theme', sample: 'orrery.docs.sample' } as const;

/** Null where nothing was chosen, or the browser stores nothing. */
export function chosen(what: keyof typeof ITEMS): string | null {
  try {
    return localStorage.getItem(ITEMS[what]);
  } catch {
    return null;
  }
}

export function choose(what: keyof typeof ITEMS, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(ITEMS[what]);
    else localStorage.setItem(ITEMS[what], value);
  } catch {
    // Then it holds for this page.
  }
}
