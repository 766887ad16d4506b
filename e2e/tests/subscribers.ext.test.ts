import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, connectBus } from '@orrery/bus';
import { defineContract, type JournalFact, journalEntry, journalRpcs } from '@orrery/contracts';
import { createLogger, Resources, systemClock } from '@orrery/service-kit';
import { describeWithNats, PATIENT } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Program,
  pythonProgram,
  type Subscriber,
  startSubscriber,
  typescriptProgram,
} from '../src/external/run-subscriber.js';

describeWithNats('the examples of subscribers', suite, { own: true });

function suite(): void {
  const resources = new Resources(PATIENT);
  const journals = new Map<string, JournalFact[]>();
  let bus: Bus;
  let url: string;
  let folder: string;
  const programs = new Map<string, Program | undefined>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orrery-subscribers-'));
    resources.add('folder', () => rm(folder, { recursive: true, force: true }));
    const logger = createLogger({ service: 'test', level: 'error' });
    ({ url } = resources.use('NATS', await startNatsServer()));
    bus = await connectBus({ url, service: 'runtime', logger, clock: systemClock });
    resources.add('bus', () => bus.close());
    await bus.serve(defineContract('runtime', journalRpcs), {
      'journal.heads': async () => ({ heads: heads(), next: null, until: new Date().toISOString() }),
      'journal.range': async ({ deployment, after, limit }) => {
        const entries = journals.get(deployment) ?? [];
        return { entries: entries.slice(after, after + limit), head: entries.length };
      },
    });
    programs.set('TypeScript', { command: await typescriptProgram(folder), env: {} });
    programs.set('Python', await pythonProgram());
  });
  afterAll(() => resources.release());

  const heads = () => [...journals.values()].flatMap((entries) => entries.slice(-1));
  const publish = (entry: JournalFact) => bus.publish(journalEntry, entry, { id: crypto.randomUUID() });

  async function start(language: string): Promise<Subscriber> {
    const { command, env } = programs.get(language) ?? { command: [], env: {} };
    const positions = join(folder, `${language}.json`);
    const own = { NATS_URL: url, NATS_USER: language, NATS_PASSWORD: 'x', POSITIONS: positions };
    const subscriber = startSubscriber(command, { ...env, ...own }, new Map());
    onTestFinished(() => subscriber[Symbol.asyncDispose]());
    return subscriber;
  }

  it.each(['TypeScript', 'Python'])('in %s go on where a journal has lost its end', async (language) => {
    if (programs.get(language) === undefined) return;
    const [lost, other] = [addressOf(`${language} lost`), addressOf(`${language} other`)];
    const before = extend([], lost, ['execution', 'execution', 'execution']);
    journals.set(lost, before.slice(0, 3));
    const subscriber = await start(language);
    const ofThese = (line: string) => line.startsWith(lost) || line.startsWith(other);
    const lines = (...expected: string[]) =>
      vi.waitFor(() => expect(subscriber.lines.filter(ofThese), subscriber.complaints()).toEqual(expected));
    const handled = [1, 2, 3].map((seq) => `${lost} ${seq} execution - -`);
    await lines(...handled);

    // It was published, and its commit is gone.
    const [gone] = extend(before, lost, ['execution', 'execution']).slice(4);
    await publish(gone as JournalFact);
    const others = extend([], other, ['execution']);
    journals.set(other, others);
    for (const entry of others) await publish(entry);
    await lines(...handled, `${other} 1 execution - -`);

    const goesOn = extend(before.slice(0, 1), lost, ['tail_lost', 'execution'], { seq: 5 });
    journals.set(lost, goesOn);
    const last = goesOn.at(-1) as JournalFact;
    await publish(last);
    const again = [`${lost} lost from 2`, `${lost} 2 tail_lost - -`, `${lost} 3 execution - -`];
    await lines(...handled, `${other} 1 execution - -`, ...again);
    // Said again, it loses nothing again.
    await publish(goesOn[1] as JournalFact);
    const end = extend(others, other, ['execution']).at(-1) as JournalFact;
    journals.set(other, [...others, end]);
    await publish(end);
    await lines(...handled, `${other} 1 execution - -`, ...again, `${other} 2 execution - -`);
  });
}

const addressOf = (name: string): string =>
  `0x${Buffer.from(name).toString('hex').padEnd(40, '0').slice(0, 40)}`;

let hashes = 0;
function newHash(): string {
  hashes += 1;
  return hashes.toString(16).padStart(64, '0');
}

/** A journal with further entries. */
function extend(
  before: readonly JournalFact[],
  deployment: string,
  kinds: readonly JournalFact['kind'][],
  input: JournalFact['input'] = {},
): JournalFact[] {
  const entries = [...before];
  for (const kind of kinds) {
    const prevHash = entries.at(-1)?.hash ?? 'f'.repeat(64);
    const position = { deployment, seq: entries.length + 1, hash: newHash(), prevHash };
    entries.push({ ...BLANK, id: crypto.randomUUID(), ...position, kind, input });
  }
  return entries;
}

const BLANK = {
  ...{ v: 1, event: null, eventVersion: null, versionHash: null, trigger: null, status: null },
  ...{ caller: 'service:runtime', changes: [], result: null, error: null, llmHash: null, attestation: null },
  ...{ paymentKey: null, executedAt: '2026-11-28T00:00:00.000Z', stateChanges: {}, durationMs: 1 },
  ...{
    llm: null,
    payment: null,
    worldAddress: `0x${'5a'.repeat(20)}`,
    inputHash: '0'.repeat(64),
    binding: null,
  },
} satisfies Partial<JournalFact>;
