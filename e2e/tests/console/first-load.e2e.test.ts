import { statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConsoleHouse } from '../../src/console/console-house.js';
import { startConsoleHouse } from '../../src/console/console-house.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { startSystem } from '../../src/starting/start-system.js';

/** Bytes that the first page may take, compressed with gzip. */
const FIRST_LOAD = 200_000;

describeWithProgram('chromium', 'the first load of the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse({}, startSystem);
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it.each([
    ['the sign-in', '/sign-in', null, 'Sign in to Orrery'],
    ['the worlds', '/', undefined, 'Worlds'],
  ] as const)('of %s takes at most 200 kB', async (_name, path, key, heading) => {
    await using watched = await house.open('/sign-in', { key: null });
    const { page } = watched;
    await page.goto('about:blank');
    const asked = new Set<string>();
    page.on('request', (request) => void asked.add(new URL(request.url()).pathname));
    if (key !== null)
      await page.addInitScript(
        `if (location.origin !== 'null') sessionStorage.setItem('orrery.key', '${house.system.key}')`,
      );
    await page.goto(`${house.system.url}/console${path}`);
    await page.getByRole('heading', { name: heading }).waitFor();
    await page.waitForLoadState('networkidle');
    const files = [...asked].filter((one) => one.startsWith('/console/assets/'));
    expect(files.filter((one) => one.endsWith('.js')).length).toBeGreaterThan(0);
    const sizes = ['/console/index.html', ...files].map(
      (file) =>
        statSync(join(repositoryRoot, 'apps/console/dist', `${file.slice('/console/'.length)}.gz`)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_LOAD);
  });

  it('is led to by the address of the server, and left out with CONSOLE=off', async () => {
    await using watched = await house.open('/sign-in', { key: null });
    await watched.page.goto(house.system.url);
    await watched.page.getByRole('heading', { name: 'Sign in to Orrery' }).waitFor();
    expect(watched.page.url()).toBe(`${house.system.url}/console/sign-in`);
    await using without = await startConsoleHouse({ CONSOLE: 'off' }, startSystem);
    const headers = { accept: 'text/html' };
    expect((await fetch(`${without.system.url}/console/`, { headers })).status).toBe(404);
    expect((await fetch(without.system.url, { headers })).url).toBe(`${without.system.url}/docs`);
    const lines = without.system.output().split('\n');
    // A service's log names the requests above.
    expect(lines.filter((line) => line.includes('/console') && !line.includes('"msg":"request"'))).toEqual(
      [],
    );
  });
});
