// Runs in Node and in a browser: makes a history with the rules of the service, and has the SDK verify it.
import { EVALUATOR } from '@orrery/contracts';
import { compileKept, foldInstances, genesisHash, hashOf, hashOfDefinition, rerun } from '@orrery/deciding';
import { createOrrery } from '@orrery/sdk';

const ENTRIES = 40_000;
const HORSES = 100;
const ADDRESS = `0x${'4f'.repeat(20)}`;
const WORLD = `0x${'aa'.repeat(20)}`;

const attribute = (name, type, defaultValue, constraints = null) => ({
  name,
  type,
  constraints,
  defaultValue,
});
const content = {
  ...{
    event: 'training',
    versionHash: '',
    outputSchema: null,
    behaviorPrompt: null,
    executionSettings: null,
  },
  inputSchema: { horse: 'string', hours: 'integer' },
  readEntities: [{ schema: 'horse', filter: ['horse'] }],
  stateChanges: { horse: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: {
      stateChanges: {
        'horse:{{input.horse}}': { speed: '{{ entities.horse[input.horse].speed + 0.5 * input.hours }}' },
      },
      result: { trained: '{{input.horse}}', at: '{{ timestamp }}' },
    },
  },
  guards: { maxInstances: 2 },
  schemas: {
    horse: {
      name: 'horse',
      attributes: [
        attribute('wins', 'integer', 0, { min: 0 }),
        attribute('speed', 'float', 10),
        attribute('stamina', 'integer', 100, { min: 0, max: 100 }),
      ],
      hash: '',
    },
  },
};
content.schemas.horse.hash = hashOf({ name: 'horse', attributes: content.schemas.horse.attributes });
const definition = { ...content, versionHash: hashOfDefinition(content) };
const compiled = compileKept(definition);

const uuid = (seq) => `019a9c3e-5d00-7c3a-9b1e-${seq.toString(16).padStart(12, '0')}`;
const timeOf = (seq) => new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();

/** An entry as the service writes it, with nothing done yet. */
const entryOf = (seq, prevHash, more) => ({
  ...{
    v: 2,
    deployment: ADDRESS,
    id: uuid(seq),
    seq,
    kind: 'instance_created',
    event: null,
    eventVersion: null,
  },
  ...{
    versionHash: null,
    trigger: null,
    caller: 'account:7',
    status: null,
    input: {},
    changes: [],
    result: null,
  },
  ...{ error: null, llmHash: null, attestation: null, paymentKey: null, executedAt: timeOf(seq), prevHash },
  ...{ decidedAt: timeOf(seq), evaluator: EVALUATOR, ...more },
});

function journal() {
  const instances = foldInstances([]);
  const entries = [];
  const add = (more, decide) => {
    const seq = entries.length + 1;
    const prevHash = entries.at(-1)?.hash ?? genesisHash({ deployment: ADDRESS, source: null });
    const draft = entryOf(seq, prevHash, more);
    const entry = { ...draft, ...decide?.(draft) };
    instances.follow(entry);
    entries.push({ ...entry, hash: hashOf(entry) });
  };
  for (let horse = 0; horse < HORSES; horse += 1) {
    const state = { wins: 0, speed: 10, stamina: 100 };
    const change = {
      entitySchema: 'horse',
      instanceId: `HORSE_${horse}`,
      op: 'create',
      set: state,
      unset: [],
    };
    add({ changes: [{ ...change, revision: 1 }] });
  }
  const execution = {
    kind: 'execution',
    event: 'training',
    eventVersion: 1,
    trigger: 'admin',
    status: 'succeeded',
  };
  const decide = (draft) => {
    const { changes, result } = rerun(draft, compiled, { worldAddress: WORLD }, instances);
    return { changes: changes.map(({ state: _, ...change }) => change), result };
  };
  while (entries.length < ENTRIES) {
    const input = { horse: `HORSE_${(entries.length * 7) % HORSES}`, hours: 1 + (entries.length % 5) };
    add({ ...execution, versionHash: definition.versionHash, input }, decide);
  }
  const shown = [...instances.all('horse')].map(([instanceId, one]) => ({
    entitySchema: 'horse',
    instanceId,
    ...one,
  }));
  return { entries, shown };
}

const beside = { stateChanges: {}, llm: null, payment: null, pushes: [], durationMs: 0.4 };

/** Answers as the service does, from texts that are made beforehand. */
function serverOf({ entries, shown }) {
  const texts = entries.map((entry) => JSON.stringify({ ...entry, ...beside }));
  const envelope = (data) =>
    `{"success":true,"data":${data},"pagination":{"page":1,"limit":100,"total":1,"totalPages":1}}`;
  const answerTo = ({ pathname, searchParams }) => {
    if (pathname.includes('/definitions/')) return JSON.stringify(definition);
    if (pathname.endsWith('/entity-instances')) return JSON.stringify(shown);
    if (!pathname.endsWith('/history'))
      return JSON.stringify({ address: ADDRESS, worldAddress: WORLD, source: null });
    const before = Math.min(Number(searchParams.get('after') ?? Infinity) - 1, texts.length);
    const page = texts.slice(Math.max(0, before - Number(searchParams.get('limit'))), before);
    return `[${page.reverse().join(',')}]`;
  };
  return async (request) =>
    new Response(envelope(answerTo(new URL(request.url))), {
      headers: { 'content-type': 'application/json' },
    });
}

/** Milliseconds of the processor, which others on the machine do not lengthen; in a browser, which does not tell, of the clock. */
function spent() {
  if (globalThis.process?.cpuUsage === undefined) return performance.now();
  const { user, system } = globalThis.process.cpuUsage();
  return (user + system) / 1000;
}

/** Entries a second, the best of three. */
export async function measure() {
  const fetch = serverOf(journal());
  const deployment = createOrrery({ url: 'http://orrery', token: 'x', fetch }).deployment(WORLD, ADDRESS);
  const rates = { chain: 0, decisions: 0 };
  for (let time = 0; time < 3; time += 1)
    for (const [name, decisions] of [
      ['chain', false],
      ['decisions', true],
    ]) {
      const from = spent();
      const { valid, decisions: checked, firstDivergence } = await deployment.verifyHistory({ decisions });
      if (!valid || (decisions && checked.rerun !== ENTRIES - HORSES))
        throw new Error(JSON.stringify(firstDivergence));
      rates[name] = Math.max(rates[name], Math.round((ENTRIES / (spent() - from)) * 1000));
    }
  return { entries: ENTRIES, perSecond: rates };
}
