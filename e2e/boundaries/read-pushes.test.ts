import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { canonicalHash, type JsonObject } from '@orrery/contracts';
import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem';
import { expect, it, onTestFinished } from 'vitest';

const program = join(import.meta.dirname, '../../docs/read-pushes.mjs');
const address = `0x${'5a'.repeat(20)}`;
const ORRERY_KEY = 'orrery_secret';

/** A server that answers what `answer` makes of a body; undefined: nothing. */
async function startCounting(answer: (url: string, body: string) => unknown = () => ({})) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    asked.push(String(request.url));
    response.end(JSON.stringify(answer(String(request.url), await text(request))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function outcomeOf(args: string[], env: Record<string, string>) {
  const running = promisify(execFile)(process.execPath, [program, ...args], { env });
  const { code, stderr, stdout } = (await running.catch((error: unknown) => error)) as {
    code?: number;
    stderr: string;
    stdout: string;
  };
  return { code, stderr, stdout };
}

it('the program that reads pushes refuses wrong arguments before it asks anyone, and tells no key', async () => {
  const { asked, url } = await startCounting();
  const right = [url, address, url, address, address];
  const wrong: readonly [string[], Record<string, string>, string][] = [
    // As when a name was ambiguous, and its addresses are left out: the key would stand in the URL.
    [[url, address, url, ORRERY_KEY], { ORRERY_KEY }, 'fourth argument'],
    [[url, address, url, address], { ORRERY_KEY }, 'fifth argument'],
    [['', ...right.slice(1)], { ORRERY_KEY }, 'first argument'],
    [[url, 'x', ...right.slice(2)], { ORRERY_KEY }, 'second argument'],
    [[url, address, 'x', ...right.slice(3)], { ORRERY_KEY }, 'third argument'],
    [[...right, ORRERY_KEY], { ORRERY_KEY }, 'last argument'],
    [[...right, 'local', 'more'], { ORRERY_KEY }, 'too many'],
    [right, {}, 'Set ORRERY_KEY'],
  ];
  for (const [args, env, what] of wrong) {
    const { code, stderr } = await outcomeOf(args, env);
    expect(code).toBe(2);
    expect(stderr).toContain(what);
    expect(stderr).not.toContain(ORRERY_KEY);
  }
  expect(asked).toEqual([]);
});

const NOTHING = Object.fromEntries(
  'attestation caller error event eventVersion llmHash paymentKey result status trigger versionHash'
    .split(' ')
    .map((member) => [member, null]),
);

/** A journal of entries with these inputs. */
function journalOf(...inputs: readonly JsonObject[]) {
  let prevHash = canonicalHash({ deployment: address, source: null });
  return inputs.map((input, at) => {
    const kind = at === 0 ? 'deployment_created' : 'execution';
    const place = { deployment: address, id: String(at + 1), seq: at + 1, kind, prevHash };
    const entry = { ...NOTHING, ...place, v: 1, input, changes: [], executedAt: '2026-11-28T00:00:00.000Z' };
    prevHash = canonicalHash(entry);
    return { ...entry, hash: prevHash, pushes: [] };
  });
}
type Journal = ReturnType<typeof journalOf>;

const entries = journalOf({ name: 'Derby' }, {});
const abi = parseAbi([
  'event Pushed(address indexed deployment, uint64 indexed number, bytes32 entryHash, bytes32 digest, bytes data)',
]);

const sha256 = (...parts: Buffer[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

/** What a chain holds of a head whose push was skipped: its digest. */
function skipped(head: { size: number; rootHash: string }) {
  const entryHash = entries[1]?.hash ?? '';
  const digest = canonicalHash({
    ...{ v: 1, number: 1, deployment: address, entryHash },
    head: { generation: 1, ...head },
  });
  const data = encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'bytes32' }, { type: 'bytes' }],
    [`0x${entryHash}`, `0x${digest}`, '0x'],
  );
  const topics = encodeEventTopics({
    abi,
    eventName: 'Pushed',
    args: { deployment: address as Hex, number: 1n },
  });
  const place = { blockHash: `0x${'0'.repeat(64)}`, blockNumber: '0x1', logIndex: '0x0' };
  return {
    ...{ address, topics, data, removed: false },
    ...{ ...place, transactionHash: `0x${'1'.repeat(64)}`, transactionIndex: '0x0' },
  };
}

/** What the program says of a journal where a chain holds these logs. */
async function readWith(logs: readonly object[], journal: Journal = entries) {
  const { url } = await startCounting((asked, body) => {
    if (body !== '') return { jsonrpc: '2.0', id: JSON.parse(body).id, result: logs };
    return { data: asked.includes('/history') ? journal.toReversed() : { address, source: null } };
  });
  return outcomeOf([url, address, url, address, address], { ORRERY_KEY });
}

it('the program that reads pushes knows a head whose push was skipped by its digest, and accuses nobody', async () => {
  const leaf = (hash: string) => sha256(Buffer.of(0), Buffer.from(hash, 'hex'));
  const [left, right] = entries.map(({ hash }) => leaf(hash)) as [Buffer, Buffer];
  const rootHash = sha256(Buffer.of(1), left, right).toString('hex');
  const { code, stdout } = await readWith([skipped({ size: 2, rootHash })]);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    undefined,
    { valid: true, pushed: 1, results: [], heads: [{ number: 1, size: 2 }] },
  ]);
  const other = await readWith([skipped({ size: 2, rootHash: 'a'.repeat(64) })]);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain('the chain holds more than the history');
});

it('the program that reads pushes computes each hash of the journal, and follows its links', async () => {
  const journal = journalOf({}, { horse: 'A' }, { horse: 'B' });
  expect((await readWith([], journal)).code).toBeUndefined();
  const changed = journal.with(1, { ...(journal[1] as Journal[number]), input: { horse: 'C' } });
  expect((await readWith([], changed)).stderr).toContain('the hash of entry 2 does not cover it');
  const without = journal.filter(({ seq }) => seq !== 2);
  expect((await readWith([], without)).stderr).toContain('entry 2 does not follow the one before');
});

it('the program that reads pushes reads names that are written with escapes as they are', async () => {
  const names = ['\n', '\\', '"', '\t'];
  const journal = journalOf(...names.map((name) => ({ horse: 'H', [name]: 1 })));
  expect((await readWith([], journal)).stderr).toBe('');
});
