import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { findRunningPostgres } from '@orrery/embedded-postgres';
import { query } from '@orrery/testing/servers';
import { BUILT_COMMAND, startNode } from '@orrery/testing/system';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';

describeWithProgram('chromium', 'signing in to the console', () => {
  let house: ConsoleHouse;
  beforeAll(async () => {
    house = await startConsoleHouse({ SIGN_UP: 'open' });
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  const stored = "sessionStorage.getItem('orrery.key')";
  const isGood = async (token: string): Promise<boolean> =>
    (await fetch(`${house.system.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })).ok;
  /** A busy machine takes longer from a link to its page than the minute for which a code is good. */
  const prolongCodes = async (): Promise<void> => {
    const data = join(house.system.commandEnv['ORRERY_DATA_DIR'] ?? '', 'postgres');
    const hour = `update gateway.sign_in_codes set expires_at = now() + interval '1 hour'`;
    await query((await findRunningPostgres(data)) ?? '', hour);
  };
  const newLink = async (): Promise<string> => {
    const command = startNode(BUILT_COMMAND, house.system.commandEnv, { args: ['console'] });
    const [link] = await command.waitFor(/http\S+#code=[\w-]{43}/);
    await command[Symbol.asyncDispose]();
    await prolongCodes();
    return link;
  };

  it('is what the link does that the all-in-one prints when it starts', async () => {
    const [link = ''] = /http\S+#code=[\w-]{43}/.exec(house.system.output()) ?? [];
    await prolongCodes();
    await using watched = await house.open('/sign-in', { key: null });
    await watched.page.goto(link);
    await watched.page.getByRole('heading', { name: 'Worlds' }).waitFor();
  });

  it('takes an API key, keeps it for the tab alone, and goes on to the page that was asked for', async () => {
    await using watched = await house.open('/keys', { key: null });
    const { page } = watched;
    await page.getByRole('heading', { name: 'Sign in to Orrery' }).waitFor();
    await expectSound(watched);
    await page.getByLabel('API key').fill(`orrery_${'x'.repeat(61)}`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('unauthorized').waitFor();
    await page.getByLabel('API key').fill(house.system.key);
    await page.getByLabel('API key').press('Enter');
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    expect(await page.evaluate(`localStorage.length + document.cookie.length`)).toBe(0);
    expect(await page.evaluate(stored)).toBe(house.system.key);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Orrery' }).waitFor();
    expect(await page.evaluate(stored)).toBeNull();
    // A key that a person gave outlives the session.
    expect(await isGood(house.system.key)).toBe(true);
    expect(watched.faults).toEqual([]);
  });

  it('ends with the key that it made, and says where that could not be revoked', async () => {
    await using watched = await house.open('/sign-in', { key: null });
    const { page } = watched;
    const signIn = async () => {
      await page.goto(await newLink());
      await page.getByRole('heading', { name: 'Worlds' }).waitFor();
      return String(await page.evaluate(stored));
    };
    const first = await signIn();
    expect(await isGood(first)).toBe(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Orrery' }).waitFor();
    await vi.waitFor(async () => expect(await isGood(first)).toBe(false));
    expect(await page.getByText('Your session has ended').count()).toBe(0);
    const second = await signIn();
    await page.route('**/api/keys/*', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('the key of the session could not be revoked').waitFor();
    await expectSound(watched);
    expect(await isGood(second)).toBe(true);
  });

  it('exchanges the code of a link once; no key and no used code stays in the address', async () => {
    const link = await newLink();
    await using watched = await house.open('/sign-in', { key: null });
    const { page } = watched;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Worlds' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${house.system.url}/console/`);
    expect(await page.evaluate(stored)).toMatch(/^orrery_\w{61}$/);
    await using again = await house.open('/sign-in', { key: null });
    await again.page.goto(link);
    await again.page.goto(`${house.system.url}/console/sign-in${new URL(link).hash}`);
    await again.page.getByText('The link did not sign you in').waitFor();
    await expect.poll(() => again.page.url()).not.toContain('code=');
    await expectSound(again);
    const code = new URL(link).hash.slice('#code='.length);
    expect(house.system.output()).not.toContain(code);
  });

  it('signs a wallet up, which signs the text that the service gave', async () => {
    const { publicKey, secretKey } = nacl.sign.keyPair();
    await using watched = await house.open('/sign-in', { key: null });
    const { page } = watched;
    let text = '';
    await page.exposeFunction('signBytes', (bytes: number[]) => {
      text = Buffer.from(bytes).toString();
      return [...nacl.sign.detached(Uint8Array.from(bytes), secretKey)];
    });
    await page.addInitScript(walletNamed('Test wallet', bs58.encode(publicKey)));
    await page.reload();
    await page.getByRole('button', { name: 'Test wallet' }).waitFor();
    await expectSound(watched);
    await page.getByRole('button', { name: 'Test wallet' }).click();
    await page.getByText('You have no worlds yet').waitFor();
    expect(text).toContain(`wants you to sign in with your Solana account:\n${bs58.encode(publicKey)}`);
    expect(watched.faults).toEqual([]);
  });

  it('leads to the sign-in with the words of the API when the key ends, and back to the page', async () => {
    const key = await house.orrery.post('/api/keys', {
      body: { name: randomBytes(4).toString('hex'), scopes: ['read', 'keys'] },
    });
    await using watched = await house.open('/keys', { key: key.token });
    const { page } = watched;
    await page.getByRole('cell', { name: key.name }).waitFor();
    await house.orrery.delete('/api/keys/{id}', { path: { id: key.id } });
    await page.getByRole('link', { name: 'Worlds', exact: true }).first().click();
    await page.getByText('Your session has ended').waitFor();
    expect(await page.evaluate(stored)).toBeNull();
    await expectSound(watched);
    await page.getByLabel('API key').fill(house.system.key);
    await page.getByLabel('API key').press('Enter');
    await page.getByRole('heading', { name: 'Worlds' }).waitFor();
  });
});

/** A wallet as the Wallet Standard has it announce itself. Its key is in the test. */
const walletNamed = (name: string, address: string): string => `
  const account = { address: ${JSON.stringify(address)} };
  const wallet = {
    name: ${JSON.stringify(name)},
    icon: 'data:image/svg+xml,' + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    features: {
      'standard:connect': { connect: async () => ({ accounts: [account] }) },
      'solana:signMessage': {
        signMessage: async ({ message }) => [{ signature: new Uint8Array(await signBytes([...message])) }],
      },
    },
  };
  const announce = ({ register }) => register(wallet);
  addEventListener('wallet-standard:app-ready', ({ detail }) => announce(detail));`;
