import type { BrowserContext, Page } from 'playwright-core';

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
  // What a page shows in half a second takes a busy machine twenty times as long.
  context.setDefaultTimeout(100_000);
  const page = await context.newPage();
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}
