import type { Page } from 'playwright-core';

/** Resolves when a page shows a button with this text, for however short; asked before the page is made to show it. */
export const buttonShown = (page: Page, text: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const isThere = () => [...document.querySelectorAll('button')].some((one) => one.textContent === ${JSON.stringify(text)});
    new MutationObserver(() => isThere() && resolve()).observe(document.body, {
      subtree: true, childList: true, characterData: true,
    });
  })`);
