import { createOrrery, type Orrery } from '@orrery/sdk';
import { holding } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { type System, startAllInOne } from '@orrery/testing/system';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { openContext, startBrowser } from '../external/browse.js';

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
      const context = await openContext(browser, { viewport: { width: 1280, height: 860 }, ...options });
      if (given !== null) await context.addInitScript(signInOnce(given));
      const watched = await watchPage(context, url);
      await watched.page.goto(`${url}/console${path}`);
      return watched;
    };
    return { system, orrery: createOrrery({ url, token: key }), open };
  }, PATIENT);

/** How long a system may take to end, in milliseconds. */
const END_MS = 120_000;

/** As a sign-in leaves it. Once for a tab: a page that signs out stays signed out. An empty tab has no storage. */
export const signInOnce = (key: string): string => `
  if (location.origin !== 'null' && sessionStorage.getItem('test.signed-in') === null) {
    sessionStorage.setItem('test.signed-in', 'once');
    sessionStorage.setItem('orrery.key', ${JSON.stringify(key)});
  }`;

/** A page, and what it did that no page of the console may do. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  readonly faults: string[];
}

/** Collects violations of the content security policy, requests to other origins, and errors of scripts. */
export async function watchPage(context: BrowserContext, origin: string): Promise<WatchedPage> {
  const faults: string[] = [];
  await context.exposeBinding('reportViolation', (_source, text: string) => void faults.push(text));
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    reportViolation('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile))`);
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`other origin: ${url}`);
  });
  context.on('weberror', (error) => faults.push(`error: ${error.error()}`));
  context.on('console', (message) => {
    // An answer of the API that is an error is written there by the browser itself.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) faults.push(`console: ${message.text()}`);
  });
  const page = await context.newPage();
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}
