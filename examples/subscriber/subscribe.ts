import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';

const {
  NATS_URL: servers,
  NATS_USER: user = '',
  NATS_PASSWORD: pass,
  POSITIONS = 'positions.json',
} = process.env;
type Page = { entries: Entry[]; heads: (Position & { deployment: string })[]; next: object | null };
type Position = { seq: number; hash: string };
type Entry = Position & { deployment: string; kind: string; event: string | null; status: string | null } & {
  prevHash: string;
  input: { seq?: number };
};
const positions: Record<string, Position> = existsSync(POSITIONS)
  ? JSON.parse(readFileSync(POSITIONS, 'utf8'))
  : {};
const positionOf = (deployment: string): Position => positions[deployment] ?? { seq: 0, hash: '' };
const nats = await connect({
  servers: servers?.split(','),
  user,
  pass,
  inboxPrefix: `orrery.inbox.${user}`,
  maxReconnectAttempts: -1,
});

/** Your effect. Store it together with the position: here a line is written, then the position. */
function handle({ deployment, seq, hash, kind, event, status }: Entry): void {
  process.stdout.write(`${deployment} ${seq} ${kind} ${event ?? '-'} ${status ?? '-'}\n`);
  keep(deployment, { seq, hash });
}

function keep(deployment: string, position: Position): void {
  positions[deployment] = position;
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

/** A page of entries. An answer beyond 1 MiB would come in parts: then one entry at a time. */
async function entriesAfter(deployment: string, after: number): Promise<Entry[]> {
  const page =
    (await ask('range', { deployment, after, limit: 50 })) ??
    (await ask('range', { deployment, after, limit: 1 }));
  return page?.entries ?? [];
}

/** Handles what was never delivered. It reads the entry at the position again: what was handled must still be there. */
async function catchUp(deployment: string): Promise<void> {
  for (;;) {
    const { seq, hash } = positionOf(deployment);
    const [last, ...more] = seq === 0 ? [] : await entriesAfter(deployment, seq - 1);
    if (seq > 0 && last?.hash !== hash) {
      if (await goBack(deployment)) continue;
      return;
    }
    const next = more.length > 0 ? more : await entriesAfter(deployment, seq);
    if (next.length === 0) return;
    next.forEach(handle);
  }
}

/** The journal lost what was handled, up to the latest entry that says so. Answers false where none does yet. */
async function goBack(deployment: string): Promise<boolean> {
  const { seq } = positionOf(deployment);
  let lost: Entry | undefined;
  for (let after = 0, page: Entry[]; after < seq; after = page.at(-1)?.seq ?? seq) {
    page = await entriesAfter(deployment, after);
    const saysSo = (one: Entry) => one.kind === 'tail_lost' && one.seq <= seq && Number(one.input.seq) >= seq;
    lost = page.findLast(saysSo) ?? lost;
  }
  if (lost === undefined) return false;
  process.stdout.write(`${deployment} lost from ${lost.seq}\n`); // Undo your effects from this number on.
  keep(deployment, { seq: lost.seq - 1, hash: lost.prevHash });
  return true;
}

async function catchUpAll(): Promise<void> {
  for (let after: object | null | undefined = null; after !== undefined; ) {
    const page = await ask('heads', { changedSince: null, after, limit: 1000, of: 'journal' });
    for (const { deployment, hash } of page?.heads ?? [])
      if (hash !== positionOf(deployment).hash) await catchUp(deployment);
    after = page?.next ?? undefined;
  }
}

async function receive(entry: Entry): Promise<void> {
  const { seq, hash } = positionOf(entry.deployment);
  if (entry.seq === seq + 1 && (seq === 0 || entry.prevHash === hash)) handle(entry);
  else if (entry.seq > seq || entry.kind === 'tail_lost') await catchUp(entry.deployment);
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
      await receive(message.json<Entry>());
      message.ack();
    }
  } catch (error) {
    process.stderr.write(`${error}: again in a second\n`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
