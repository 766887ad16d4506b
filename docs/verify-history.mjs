#!/usr/bin/env node
// Checks a deployment's journal by the recipe of history.md alone: its own RFC 8785, SHA-256, and HTTP.
// node docs/verify-history.mjs <base URL> <world> <deployment> <token>
import { createHash, createHmac } from 'node:crypto';

const [base, world, address, token] = process.argv.slice(2);
const isReference = (text) => /^(\d+|0x[0-9a-f]{40})$/i.test(text ?? '');
if (!isReference(world) || !isReference(address) || !token) {
  process.stderr.write(
    'usage: node docs/verify-history.mjs <base URL> <world> <deployment> <token>\nWorld and deployment are given by their addresses (0x…) or ids, not by their names.\n',
  );
  process.exit(2);
}
const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex');
const canonical = (json) => {
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(canonical).join(',')}]`;
  const keys = Object.keys(json).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(json[key])}`).join(',')}}`;
};
const COVERED =
  'v deployment id seq kind event eventVersion versionHash trigger caller status input changes result error llmHash attestation paymentKey executedAt prevHash';
const ADDED = 'decidedAt evaluator timers cause depth readHistoryHash replayOf randomness';
const check = (holds, what) => {
  if (!holds) throw new Error(what);
};

async function get(deployment, path = '') {
  const url = `${base}/api/worlds/${world}/deployments/${deployment}${path}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  check(answer.ok, `${url} answers ${answer.status}`);
  return (await answer.json()).data;
}

async function journalOf(deployment) {
  const entries = [];
  for (let after = ''; ; after = `&after=${entries.at(-1).seq}`) {
    const page = await get(deployment, `/history?include=all&limit=40${after}`);
    entries.push(...page);
    if (page.length < 40) return entries.reverse();
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
    check(
      createHash('sha256').update(bytes).digest('hex') === commitment,
      'a secret is not the one of its commitment',
    );
    check(entries, `nothing had committed to ${commitment}`);
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

/** The states after entry `until`, by schema and instanceId; every entry up to it is checked. */
async function fold(deployment, until = Infinity) {
  const { address: name, source } = await get(deployment);
  check(
    /^\d+$/.test(deployment) || name === deployment.toLowerCase(),
    `it is of ${name}, not of ${deployment}`,
  );
  const states = source ? await snapshot(source) : new Map();
  let prevHash = sha256(canonical({ deployment: name, source }));
  let seq = 0;
  const { seeds, next: checkSeed } = createSeedCheck();
  for (const entry of (await journalOf(deployment)).filter((one) => one.seq <= until)) {
    check(entry.seq === ++seq && entry.prevHash === prevHash, `entry ${seq} does not follow the one before`);
    const added = ADDED.split(' ').filter((member) => entry[member] !== undefined);
    check(entry.v === 2 || (entry.v === 1 && added.length === 0), `entry ${seq} is of another version`);
    const covered = Object.fromEntries(
      [...COVERED.split(' '), ...added].map((member) => [member, entry[member]]),
    );
    prevHash = sha256(canonical(covered));
    check(prevHash === entry.hash, `the hash of entry ${seq} does not cover it`);
    for (const change of entry.changes) apply(states, change);
    checkSeed(entry);
  }
  return { states, entries: seq, seeds };
}

function apply(states, { entitySchema, instanceId, op, set, unset }) {
  const key = JSON.stringify([entitySchema, instanceId]);
  check(states.has(key) === (op !== 'create'), `${op} of ${key} cannot be`);
  const after = { ...states.get(key), ...set };
  for (const attribute of unset) delete after[attribute];
  op === 'delete' ? states.delete(key) : states.set(key, after);
}

async function snapshot({ address: original, seq, snapshotHash }) {
  const { states } = await fold(original, seq);
  const bytes = (key) => Buffer.from(JSON.parse(key).join('\0'));
  const keys = [...states.keys()].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
  const lines = keys.map((key) => {
    const [entitySchema, instanceId] = JSON.parse(key);
    return `${canonical({ entitySchema, instanceId, state: states.get(key) })}\n`;
  });
  check(sha256(lines.join('')) === snapshotHash, 'the clone began with something else than its source was');
  return states;
}

const { states, entries, seeds } = await fold(address);
let instances = 0;
for (let page = 1, rows = []; page === 1 || rows.length === 100; page++) {
  rows = await get(address, `/entity-instances?limit=100&page=${page}`);
  for (const { entitySchema, instanceId, state } of rows) {
    const folded = states.get(JSON.stringify([entitySchema, instanceId]));
    check(
      folded && canonical(folded) === canonical(state),
      `${entitySchema}:${instanceId} is not what its changes say`,
    );
    instances++;
  }
}
check(instances === states.size, 'an instance is missing');
const drew = Object.values(seeds).some((count) => count > 0) && { seeds };
process.stdout.write(`${JSON.stringify({ valid: true, entries, instances, ...drew })}\n`);
