import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '@orrery/testing/servers';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { findProgram } from './describe-with-program.js';

/** The machine's Chromium, without a window. */
export function startBrowser(): Promise<Browser> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined)
    throw new Error('chromium is missing; on Debian: apt-get install chromium');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** What a page shows in half a second takes a busy machine twenty times as long, and more. */
const PATIENCE_MS = 100_000;

/** A profile of its own, whose pages are waited for with patience. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

export interface BrowseOptions {
  /** HTML of the page; it may be a whole one. */
  readonly page?: string;
  /** Answers to what the page posts to its own origin, as JSON, by path. */
  readonly answers?: Readonly<Record<string, (body: Buffer) => unknown>>;
}

/** Runs a script in a page of an origin of its own, and gives what it returns: nothing but the script crosses origins. */
export async function browse(
  script: string,
  deadlineMs: number,
  { page: html = '', answers = {} }: BrowseOptions = {},
): Promise<unknown> {
  const server = createServer(async (request, reply) => {
    const answer = answers[request.url ?? ''];
    if (request.method !== 'POST' || answer === undefined)
      return void reply.setHeader('content-type', 'text/html').end(html);
    reply.end(JSON.stringify(await answer(await buffer(request))));
  });
  await using listening = await listen(server);
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(listening.url, { timeout: deadlineMs });
    return await page.evaluate(`(async () => {${script}})().catch((error) => ({ failed: String(error) }))`);
  } finally {
    await browser.close();
  }
}
