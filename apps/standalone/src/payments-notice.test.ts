import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readStandaloneSettings } from './config.js';
import { paymentsNotice } from './payments-notice.js';
import { welcome } from './welcome.js';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'orrery-notice-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** The address of a facilitator that answers anything, until the test ends it. */
async function facilitator() {
  const server = createServer((_request, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const dollar = { network: 'base-sepolia', name: 'USDC' };

describe('the start says about payments', () => {
  it('that they are taken on test networks, unless told otherwise', async () => {
    const dataDirectory = await folder();
    const settings = readStandaloneSettings({ ORRERY_DATA_DIR: dataDirectory }, () => undefined);
    const notice = await paymentsNotice({ ...settings, payments: settings.runtime.payments });
    expect(notice).toEqual([
      'test networks: USDC on base-sepolia, USDC on solana-devnet, through https://x402.org/facilitator',
      'to the payToAddress of each deployment; PAYMENTS_FILE says otherwise (docs/payments.md)',
    ]);
    expect(
      welcome({
        url: 'http://u',
        key: 'k',
        hasConsole: false,
        code: undefined,
        dataDirectory,
        payments: notice,
      }),
    ).toContain(`  Payments  ${notice[0]}\n            ${notice[1]}\n`);
  });

  it('that a file of local payments is there and not used', async () => {
    const dataDirectory = await folder();
    const file = join(dataDirectory, 'payments.json');
    await writeFile(file, '{}');
    const payments = { facilitatorUrl: 'https://x402.org/facilitator', accepts: [dollar] };
    const notice = await paymentsNotice({ payments, paymentsFile: undefined, dataDirectory });
    expect(notice.slice(2)).toEqual([`${file} is not used: PAYMENTS_FILE=${file} npm start uses it`]);
  });

  it.each([
    'https://facilitator.example/v1/SECRET',
    'https://facilitator.example/?key=SECRET',
    'https://SECRET@facilitator.example',
    'https://user:SECRET@facilitator.example/x402',
  ])('the server of the facilitator, and no key in its address: %s', async (facilitatorUrl) => {
    const payments = { facilitatorUrl, accepts: [dollar] };
    const facts = { payments, paymentsFile: 'payments.json', dataDirectory: await folder() };
    const [notice] = await paymentsNotice(facts);
    expect(notice).toMatch(/^USDC on base-sepolia, through https:\/\/facilitator\.example\/…$/);
  });

  it('that the facilitator of an older file is gone', async () => {
    const { server, url } = await facilitator();
    const facts = {
      payments: { facilitatorUrl: url, accepts: [dollar] },
      paymentsFile: 'payments.json',
      dataDirectory: await folder(),
    };
    expect(await paymentsNotice(facts)).toEqual([
      `USDC on base-sepolia, through ${url}`,
      'to the payToAddress of each deployment; PAYMENTS_FILE says otherwise (docs/payments.md)',
    ]);
    await new Promise((resolve) => server.close(resolve));
    expect((await paymentsNotice(facts)).at(-1)).toBe(
      `Nothing answers at ${url}: run \`npm run local-payments\` again, and start anew`,
    );
  });
});
