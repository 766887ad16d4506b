import { createOrrery, type Orrery } from '@orrery/sdk';
import { holding } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { type System, startAllInOne } from '@orrery/testing/system';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { findProgram } from '../external/describe-with-program.js';
import { type WatchedPage, watchPage } from './watch-page.js';

/** A system, a browser, and a second client that does things while the browser looks. */
export interface ConsoleHouse extends AsyncDisposable {
  readonly system: System;
  /** With the key of the first account. */
  readonly orrery: Orrery;
  /** Opens a page of the console, below `/console`, in a tab and a profile of its own. */
  open(path: string, options?: OpenOptions): Promise<WatchedPage>;
}

export interface OpenOptions extends Pick<BrowserContextOptions, 'viewport' | 'colorScheme'> {
  /** Who is signed in: the first account by default, null for nobody. */
  readonly key?: string | null;
}

/** Variables go to the system, which is the all-in-one unless `start` starts another. */
export const startConsoleHouse = (
  env: Record<string, string> = {},
  start: typeof startAllInOne = startAllInOne,
): Promise<ConsoleHouse> =>
  holding(async (resources) => {
    const [system, browser] = await Promise.all([start(undefined, env), startBrowser()]);
    resources.use('system', system, END_MS);
    resources.add('browser', () => browser.close());
    const { url, key } = system;
    const open = async (path: string, { key: given = key, ...options }: OpenOptions = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
      if (given !== null) await context.addInitScript(signInOnce(given));
      const watched = await watchPage(context, url);
      await watched.page.goto(`${url}/console${path}`);
      return watched;
    };
    return { system, orrery: createOrrery({ url, token: key }), open };
  }, PATIENT);

/** How long a system may take to end, in milliseconds. */
const END_MS = 120_000;

function startBrowser(): Promise<Browser> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined)
    throw new Error('chromium is missing; on Debian: apt-get install chromium');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** As a sign-in leaves it. Once for a tab: a page that signs out stays signed out. An empty tab has no storage. */
const signInOnce = (key: string): string => `
  if (location.origin !== 'null' && sessionStorage.getItem('test.signed-in') === null) {
    sessionStorage.setItem('test.signed-in', 'once');
    sessionStorage.setItem('orrery.key', ${JSON.stringify(key)});
  }`;
