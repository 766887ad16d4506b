#!/usr/bin/env node
// Checks a deployment's journal by the recipe of history.md alone: its own RFC 8785, SHA-256, and HTTP.
// node docs/verify-history.mjs <base URL> <world> <deployment> <token>
import { createHash, createHmac } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const [base, world, address, token] = process.argv.slice(2);
const isReference = (text) => /^(\d+|0x[0-9a-f]{40})$/i.test(text ?? '');
if (!isReference(world) || !isReference(address) || !token) {
  process.stderr.write(
    'usage: node docs/verify-history.mjs <base URL> <world> <deployment> <token>\nWorld and deployment are given by their addresses (0x…) or ids, not by their names.\n',
  );
  process.exit(2);
}
const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex');
const check = (holds, what) => {
  if (!holds) throw new Error(what);
};
const canonical = (json) => {
  check(typeof json !== 'string' || json.isWellFormed(), 'half of a surrogate pair has no canonical text');
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(canonical).join(',')}]`;
  const keys = Object.keys(json).sort();
  return `{${keys.map((key) => `${canonical(key)}:${canonical(json[key])}`).join(',')}}`;
};
const COVERED =
  'v deployment id seq kind event eventVersion versionHash trigger caller status input changes result error llmHash attestation paymentKey executedAt prevHash';
const ADDED = 'decidedAt evaluator timers cause depth readHistoryHash replayOf randomness';
/**
 * `JSON.parse` of Node.js 24 may read a key that is written with an escape as another key
 * (https://github.com/nodejs/node/issues/63785): such keys are parsed apart from their objects.
 */
function parse(text) {
  // Begins no key: one more of these characters than stand anywhere in a row.
  const runs = (text.match(/\uf8ff+/g) ?? []).map(({ length }) => length);
  const mark = '\uf8ff'.repeat(1 + runs.reduce((longest, length) => Math.max(longest, length), 0));
  const keys = [];
  const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs, (token, colon) => {
    if (colon === undefined || !token.includes('\\')) return token;
    return `"${mark}${keys.push(JSON.parse(token.slice(0, -colon.length))) - 1}":`;
  });
  if (keys.length === 0) return JSON.parse(text);
  const nameOf = (key) => (key.startsWith(mark) ? keys[key.slice(mark.length)] : key);
  return JSON.parse(marked, (_, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [nameOf(key), member]));
  });
}

/** The body of an answer. Where the server is asked too often, it is asked again when it says so, ten times at most. */
async function get(deployment, path = '') {
  const url = `${base}/api/worlds/${world}/deployments/${deployment}${path}`;
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    if (answer.ok) return parse(text);
    check(answer.status === 429 && tries < 10, `${url} answers ${answer.status}`);
    await setTimeout(1000 * Math.min(Number(answer.headers.get('retry-after') ?? 1) || 0, 60));
  }
}

/** The seq of the last entry; 0 where there is none. */
const lastSeq = async (deployment) =>
  (await get(deployment, '/history?include=all&limit=1')).data[0]?.seq ?? 0;

/** Entries in order of seq. The list is newest first: those after `seq` are the end of what comes before `seq` + 41. */
async function* journalOf(deployment, until) {
  for (let seq = 0; seq < until; ) {
    const { data } = await get(deployment, `/history?include=all&limit=40&after=${seq + 41}`);
    const next = data.filter((entry) => entry.seq > seq && entry.seq <= until).reverse();
    if (next.length === 0) return;
    yield* next;
    seq = next.at(-1).seq;
  }
}

const seedOf = (secret, { randomness: { run }, input }) =>
  createHmac('sha256', secret)
    .update(`${run}${sha256(canonical(input))}`)
    .digest('hex');
const holdsTo = (secret, entry) =>
  check(
    seedOf(secret, entry) === entry.randomness.seed,
    `the seed of entry ${entry.seq} is made of something else`,
  );

/** Holds seeds to the secrets that the journal had committed to, once it reveals them. */
function createSeedCheck() {
  /** What became of them. The signatures of a beacon take a library: they are not verified here. */
  const seeds = { checked: 0, unrevealed: 0, repeated: 0, beaconNotVerified: 0 };
  /** Entries whose seeds are made of a secret, by its commitment; undefined once it is revealed. */
  const drawn = new Map();
  const reveal = ({ commitment, secret }) => {
    const bytes = Buffer.from(secret, 'hex');
    const entries = drawn.get(commitment);
    // Another secret than that of an open commitment reveals nothing.
    if (!entries || createHash('sha256').update(bytes).digest('hex') !== commitment) return;
    for (const entry of entries) holdsTo(bytes, entry);
    drawn.set(commitment, undefined);
    seeds.checked += entries.length;
    seeds.unrevealed -= entries.length;
  };
  const draw = (entry) => {
    const { source, commitment, signature } = entry.randomness;
    if (source === 'replayed') {
      check(entry.replayOf, `entry ${entry.seq} repeats no other one`);
      seeds.repeated += 1;
    } else if (source === 'drand') {
      holdsTo(createHash('sha256').update(Buffer.from(signature, 'hex')).digest(), entry);
      seeds.beaconNotVerified += 1;
    } else {
      check(
        drawn.get(commitment),
        `entry ${entry.seq} draws from a secret that is not committed to, or revealed`,
      );
      drawn.get(commitment).push(entry);
      seeds.unrevealed += 1;
    }
  };
  const next = (entry) => {
    const { kind, input, randomness } = entry;
    if (kind === 'randomness_committed' && !drawn.has(input.commitment)) drawn.set(input.commitment, []);
    if (kind === 'randomness_revealed') input.secrets.forEach(reveal);
    if (randomness) draw(entry);
  };
  return { seeds, next };
}

/**
 * States and revisions after entry `until`, by schema and instanceId; every entry up to it is checked. `recent` has what
 * each instance was at some time while entries after `since` came.
 */
async function fold(deployment, until, since = until) {
  const { address: name, source } = (await get(deployment)).data;
  check(
    /^\d+$/.test(deployment) || name === deployment.toLowerCase(),
    `it is of ${name}, not of ${deployment}`,
  );
  const states = source ? await snapshot(source) : new Map();
  let prevHash = sha256(canonical({ deployment: name, source }));
  let seq = 0;
  const recent = new Map();
  const note = (change) => {
    const key = keyOf(change);
    if (seq > since) recent.set(key, (recent.get(key) ?? new Set()).add(canonical(states.get(key))));
  };
  const { seeds, next: checkSeed } = createSeedCheck();
  for await (const entry of journalOf(deployment, until)) {
    check(entry.seq === ++seq && entry.prevHash === prevHash, `entry ${seq} does not follow the one before`);
    check(entry.deployment === name, `entry ${seq} is of another deployment`);
    const added = ADDED.split(' ').filter((member) => entry[member] !== undefined);
    check(entry.v === 2 || (entry.v === 1 && added.length === 0), `entry ${seq} is of another version`);
    const covered = Object.fromEntries(
      [...COVERED.split(' '), ...added].map((member) => [member, entry[member]]),
    );
    prevHash = sha256(canonical(covered));
    check(prevHash === entry.hash, `the hash of entry ${seq} does not cover it`);
    for (const change of entry.changes) {
      note(change);
      apply(states, change);
      note(change);
    }
    checkSeed(entry);
  }
  check(seq === until, `entry ${seq + 1} is missing`);
  return { states, recent, entries: seq, seeds };
}

const keyOf = ({ entitySchema, instanceId }) => JSON.stringify([entitySchema, instanceId]);

function apply(states, change) {
  const { op, set, unset, revision } = change;
  const key = keyOf(change);
  const before = states.get(key);
  check((before !== undefined) === (op !== 'create'), `${op} of ${key} cannot be`);
  check(revision === (before?.revision ?? 0) + 1, `${op} of ${key} has not the next revision`);
  const state = { ...before?.state, ...set };
  for (const attribute of unset) delete state[attribute];
  op === 'delete' ? states.delete(key) : states.set(key, { state, revision });
}

async function snapshot({ address: original, seq, snapshotHash }) {
  const { states } = await fold(original, seq);
  const bytes = (key) => Buffer.from(JSON.parse(key).join('\0'));
  const keys = [...states.keys()].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
  const lines = keys.map((key) => {
    const [entitySchema, instanceId] = JSON.parse(key);
    return `${canonical({ entitySchema, instanceId, state: states.get(key).state })}\n`;
  });
  check(sha256(lines.join('')) === snapshotHash, 'the clone began with something else than its source was');
  return new Map([...states].map(([key, { state }]) => [key, { state, revision: 1 }]));
}

/** All instances that are shown. Each page begins behind the last of the one before: what is there all the time is in one. */
async function shownInstances() {
  const shown = new Map();
  for (let cursor = ''; cursor !== null; ) {
    const { data, pagination } = await get(address, `/entity-instances?orderBy=id&limit=100${cursor}`);
    for (const { state, revision, ...name } of data) shown.set(keyOf(name), canonical({ state, revision }));
    cursor = pagination.next && `&cursor=${encodeURIComponent(pagination.next)}`;
  }
  return shown;
}

// The deployment may change meanwhile: an instance may be as it was at any time since the first was read.
const since = await lastSeq(address);
const shown = await shownInstances();
const { states, recent, entries, seeds } = await fold(address, await lastSeq(address), since);
const isRight = (key) =>
  recent.get(key)?.has(shown.get(key)) ?? canonical(states.get(key)) === shown.get(key);
for (const key of shown.keys())
  check(isRight(key), `${JSON.parse(key).join(':')} is not what its changes say`);
for (const key of states.keys()) check(isRight(key), 'an instance is missing');
const drew = Object.values(seeds).some((count) => count > 0) && { seeds };
process.stdout.write(`${JSON.stringify({ valid: true, entries, instances: shown.size, ...drew })}\n`);
