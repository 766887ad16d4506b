import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';

const {
  NATS_URL: servers,
  NATS_USER: user = '',
  NATS_PASSWORD: pass,
  POSITIONS = 'positions.json',
} = process.env;
type Page = { entries: Entry[]; heads: { deployment: string; seq: number }[]; next: object | null };
type Entry = { deployment: string; seq: number; kind: string; event: string | null; status: string | null };
const positions: Record<string, number> = existsSync(POSITIONS)
  ? JSON.parse(readFileSync(POSITIONS, 'utf8'))
  : {};
const nats = await connect({
  servers: servers?.split(','),
  user,
  pass,
  inboxPrefix: `orrery.inbox.${user}`,
  maxReconnectAttempts: -1,
});

/** Your effect. Store it together with the position: here a line is written, then the position. */
function handle({ deployment, seq, kind, event, status }: Entry): void {
  process.stdout.write(`${deployment} ${seq} ${kind} ${event ?? '-'} ${status ?? '-'}\n`);
  positions[deployment] = seq;
  writeFileSync(`${POSITIONS}.new`, JSON.stringify(positions));
  renameSync(`${POSITIONS}.new`, POSITIONS);
}

async function ask(name: 'heads' | 'range', request: object): Promise<Page | undefined> {
  const about = headers();
  about.set('orrery-caller', JSON.stringify({ kind: 'service', service: user }));
  about.set('orrery-request', crypto.randomUUID());
  about.set('orrery-deadline', '0 5000');
  const answer = await nats.request(`orrery.runtime.journal.${name}`, JSON.stringify(request), {
    timeout: 5000,
    headers: about,
  });
  if (answer.headers?.has('orrery-error')) throw new Error(answer.string());
  return answer.headers?.has('orrery-parts') ? undefined : answer.json<Page>();
}

/** Entries that were never delivered. An answer beyond 1 MiB would come in parts: then one entry at a time. */
async function catchUp(deployment: string, head: number): Promise<void> {
  for (let after = positions[deployment] ?? 0; after < head; after = positions[deployment] ?? 0) {
    const page =
      (await ask('range', { deployment, after, limit: 50 })) ??
      (await ask('range', { deployment, after, limit: 1 }));
    for (const entry of page?.entries ?? []) handle(entry);
  }
}

async function catchUpAll(): Promise<void> {
  for (let after: object | null | undefined = null; after !== undefined; ) {
    const page = await ask('heads', { changedSince: null, after, limit: 1000, of: 'journal' });
    for (const { deployment, seq } of page?.heads ?? []) await catchUp(deployment, seq);
    after = page?.next ?? undefined;
  }
}

const durable = `${user}-runtime_journal-entry`;
const filter_subject = 'orrery.facts.runtime.journal-entry';
for (;;)
  try {
    const manager = await jetstreamManager(nats, { checkAPI: false });
    await manager.consumers.add('ORRERY_FACTS', {
      name: durable,
      durable_name: durable,
      filter_subject,
      ack_policy: AckPolicy.Explicit,
    });
    const consumer = await jetstream(nats).consumers.get('ORRERY_FACTS', durable);
    await catchUpAll();
    for await (const message of await consumer.fetch({ max_messages: 200, expires: 5000 })) {
      const entry = message.json<Entry>();
      await catchUp(entry.deployment, entry.seq - 1);
      if (entry.seq === (positions[entry.deployment] ?? 0) + 1) handle(entry);
      message.ack();
    }
  } catch (error) {
    process.stderr.write(`${error}: again in a second\n`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
