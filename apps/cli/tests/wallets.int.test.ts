import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import bs58 from 'bs58';
import { verifyMessage } from 'viem';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createProgram } from '../src/program.js';
import { createWalletFile, type Wallet } from '../src/wallets/wallet-file.js';
import { answering, startScriptedServer } from './scripted-server.js';

let folder: string;
let wallet: Wallet;
const fileOf = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-wallets-'));
  wallet = await createWalletFile(fileOf('solana.json'));
  return () => rm(folder, { recursive: true, force: true });
});

interface Text {
  readonly domain?: string;
  readonly uri?: string;
  readonly address?: string;
  readonly family?: string;
  readonly statement?: string;
  readonly more?: string;
}

const WATCHER = 'Create the API key "watcher" for Orrery, with the scopes read, good until it is revoked.';

/** A challenge as the gateway words it (services/gateway/src/core/sign-in/sign-in-text.ts). */
const textOf = (host: string, { domain = host, uri = `http://${domain}/`, ...text }: Text = {}): string =>
  [
    `${domain} wants you to sign in with your ${text.family ?? 'Solana'} account:`,
    text.address ?? wallet.address,
    '',
    `${text.statement ?? WATCHER} This costs nothing and moves nothing.`,
    '',
    `URI: ${uri}`,
    'Version: 1',
    ...(text.family === 'Ethereum' ? ['Chain ID: 1'] : []),
    'Nonce: 5b1f0c6e9d7a43825b1f0c6e9d7a4382',
    'Issued At: 2026-11-21T09:33:00.000Z',
    `Expiration Time: 2026-11-21T09:38:00.000Z${text.more ?? ''}`,
  ].join('\n');

const signedIn = { token: 'orrery_made', keyId: 'k', scopes: ['read'], account: { id: 7 } };

/** A server whose challenges are these texts; it gives a key for any signature. */
async function startSigner(text: (host: string) => string) {
  const server = await startScriptedServer(
    (reply, request) => answering({ message: text(request.headers.host ?? '') })(reply, request),
    answering(signedIn),
  );
  const pathsOf = () => server.received.map(({ url }) => url);
  return { ...server, pathsOf };
}

interface Asking {
  readonly env?: Record<string, string>;
  /** The answer of the person at the terminal; undefined: there is none. */
  readonly answer?: boolean;
}

async function run({ env = {}, answer }: Asking, ...args: string[]) {
  const [out, asked]: [string[], string[]] = [[], []];
  const program = createProgram({
    env: { ORRERY_DATA_DIR: '/nowhere', ...env },
    write: (line) => void out.push(line),
    note: (line) => void out.push(line),
    confirm: async (question) => {
      asked.push(question);
      if (answer === undefined) throw new StartupError('There is nobody to ask.');
      return answer;
    },
  });
  const failed = program.parseAsync(args, { from: 'user' }).catch((error: Error) => error.message);
  return { message: await failed, out: out.join('\n'), asked };
}

const CREATE = ['keys', 'create', '--name', 'watcher', '--scopes', 'read', '--wallet'];
const create = (url: string, asking: Asking = {}, ...more: string[]) =>
  run({ ...asking, env: { ORRERY_URL: url } }, ...CREATE, fileOf('solana.json'), ...more);

describe('a wallet signs for a key', () => {
  it('the text for this key alone', async () => {
    const { url, received, pathsOf } = await startSigner(textOf);
    expect(await create(url)).toMatchObject({
      ...{ asked: [], out: 'account 7, key k, scopes read\norrery_made' },
    });
    expect(pathsOf()).toEqual(['/auth/challenge', '/auth/token']);
    const { message, signature } = JSON.parse(received[1]?.body ?? '');
    const raw = Buffer.from(bs58.decode(wallet.address)).toString('base64url');
    const key = { key: { kty: 'OKP', crv: 'Ed25519', x: raw }, format: 'jwk' } as const;
    expect(verify(null, Buffer.from(message), key, bs58.decode(signature))).toBe(true);
  });

  it('of EVM chains, with an end', async () => {
    const account = await createWalletFile(fileOf('evm.key'), { evm: true });
    const statement =
      'Create the API key "Ann\'s" for Orrery, with the scopes read, execute, good until 2099-01-01T00:00:00.000Z.';
    const { url, received } = await startSigner((host) =>
      textOf(host, { family: 'Ethereum', address: account.address, statement }),
    );
    const asked = [
      '--name',
      "Ann's",
      '--scopes',
      'execute,read',
      '--expires-at',
      '2099-01-01T01:00:00+01:00',
    ];
    const made = await run({}, 'keys', 'create', '--url', url, '--wallet', fileOf('evm.key'), ...asked);
    expect(made.out).toMatch(/orrery_made$/);
    const { message, signature } = JSON.parse(received[1]?.body ?? '');
    expect(await verifyMessage({ address: account.address as `0x${string}`, message, signature })).toBe(true);
  });

  const other = bs58.encode(
    Buffer.from(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'),
  );
  const execution = `orrery:0x${'ab'.repeat(20)}:transfer:1795867200000`;
  it.each([
    ['a public execution', () => execution],
    ['a public execution in the clothes of a sign-in', (host: string) => `${execution}\n${textOf(host)}`],
    [
      'one whose host is that of an execution',
      (host: string) => textOf(host, { domain: execution, uri: `http://${host}/` }),
    ],
    ['a sign-in with all scopes', (host: string) => textOf(host, { statement: 'Sign in to Orrery.' })],
    ['more scopes', (host: string) => textOf(host, { statement: WATCHER.replace('read', 'read, write') })],
    ['another name', (host: string) => textOf(host, { statement: WATCHER.replace('watcher', 'writer') })],
    [
      'another end',
      (host: string) =>
        textOf(host, { statement: WATCHER.replace('it is revoked', '2099-01-01T00:00:00.000Z') }),
    ],
    ['another wallet', (host: string) => textOf(host, { address: other })],
    ['another address than its host', (host: string) => textOf(host, { uri: 'https://orrery.example/' })],
    ['one line more', (host: string) => textOf(host, { more: '\nResources:' })],
    ['nothing', () => undefined as unknown as string],
  ])('and not: %s', async (_, text) => {
    const { url, pathsOf } = await startSigner(text);
    const { message, out } = await create(url, { answer: true }, '--yes');
    expect(message).toMatch(
      /^http:\S+ asks the wallet for another text than that for this key, so nothing was signed\./,
    );
    expect([out, pathsOf()]).toEqual(['', ['/auth/challenge']]);
  });

  it('of another host only where a person says so, or --yes', async () => {
    const relay = () => startSigner(() => textOf('orrery.example'));
    const refused = await relay();
    const no = await create(refused.url, { answer: false });
    expect(no.asked).toEqual([
      `The text to sign is one of orrery.example, and the server was asked at ${refused.url}. Is that the same Orrery, and shall the wallet sign?`,
    ]);
    expect([no.out, refused.pathsOf()]).toEqual(['Nothing was signed.', ['/auth/challenge']]);
    const alone = await relay();
    expect((await create(alone.url)).message).toBe(
      `The text to sign is one of orrery.example, and the server was asked at ${alone.url}: ask at orrery.example, or pass --yes if both are the same Orrery.`,
    );
    expect(alone.pathsOf()).toEqual(['/auth/challenge']);
    for (const [answer, more] of [
      [true, []],
      [undefined, ['--yes']],
    ] as const)
      expect(
        (await create((await relay()).url, answer === undefined ? {} : { answer }, ...more)).out,
      ).toMatch(/orrery_made$/);
  });

  it('by any name of this machine, at the same port', async () => {
    const named = (name: string) => startSigner((host) => textOf(host.replace('127.0.0.1', name)));
    for (const name of ['localhost', '0.0.0.0', '[::1]']) {
      const { url } = await named(name);
      expect(await create(url)).toMatchObject({ asked: [], out: expect.stringContaining('orrery_made') });
    }
    const { url } = await startSigner(() => textOf('localhost:1'));
    expect((await create(url)).message).toContain('is one of localhost:1,');
  });
});

it.each([
  ['a key', (name: string) => [...CREATE, name]],
  [
    'an execution',
    (name: string) => [
      'public',
      'execute',
      '--deployment',
      `0x${'a'.repeat(40)}`,
      '--event',
      'cheer',
      '--wallet',
      name,
    ],
  ],
])('a wallet signs for %s for no server that a folder alone names', async (_, argsOf) => {
  const planted = await mkdtemp(join(tmpdir(), 'orrery-planted-'));
  onTestFinished(() => rm(planted, { recursive: true }));
  await writeFile(join(planted, 'url'), 'https://elsewhere.example');
  const { message } = await run({ env: { ORRERY_DATA_DIR: planted } }, ...argsOf(fileOf('solana.json')));
  expect(message).toBe(
    `Nothing that a wallet signs is sent to https://elsewhere.example, which ${join(planted, 'url')} alone names: pass --url or set ORRERY_URL.`,
  );
});
