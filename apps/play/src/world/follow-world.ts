import { INNER_KINDS, OrreryError } from '@orrery/sdk';
import { applyEntries, type Shown, withEarlier } from './apply-entries.js';
import { createReader, orrery, type Reader, type Search } from './read-world.js';
import type { Entry, Found, PublicDeployment, Rows } from './records.js';

/** How the page hears of what happens. */
export type Connection =
  | { readonly state: 'opening' | 'live' | 'hidden' | 'past' }
  /** The service has said that the world is not open any more. */
  | { readonly state: 'closed' }
  /** Since when, in milliseconds since 1970; `why`: an answer has said it. */
  | { readonly state: 'lost'; readonly since: number; readonly why?: string };

export type World =
  | { readonly kind: 'opening'; readonly since: number }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  | OpenWorld;

export interface OpenWorld extends Shown {
  readonly kind: 'open';
  readonly deployment: PublicDeployment;
  /** The last entry that is known: larger than `seq` at a moment of the past. */
  readonly last: number;
  readonly connection: Connection;
  /** The moment of the past that is shown; undefined: now. */
  readonly moment: number | undefined;
  /** Whether the journal has entries before those that are shown. */
  readonly hasEarlier: boolean;
}

export interface WorldStore {
  readonly current: () => World;
  /** Calls back after each change; returns what ends that. */
  readonly subscribe: (told: () => void) => () => void;
  /** Reads the instances of a schema, unless they are there. */
  readonly load: (schema: string) => void;
  /** Instances by a condition and an order, at the moment that is shown. */
  readonly search: (schema: string, search: Search, signal: AbortSignal) => Promise<Found>;
  readonly readEarlier: () => Promise<void>;
  /** Shows the world after an entry; undefined: now. */
  readonly show: (seq: number | undefined) => void;
}

/** Entries that are told together: a page is drawn some times a second at most. */
const DRAW_MS = 100;
/** After a longer absence the page reads anew what it shows. */
const MOST_MISSED = 500;
const RETRY_MS = 3000;

/** A deployment as it is shown: read once, then followed while the page is seen. */
export function openWorld(address: string, moment: number | undefined): WorldStore {
  const reader = createReader(address);
  const cell = createCell();
  let at = moment;
  let leaving = new AbortController();
  const restart = (isReadingAnew: boolean) => {
    leaving.abort();
    leaving = new AbortController();
    void run({ address, reader, cell, at }, leaving.signal, isReadingAnew);
  };
  /** A page that is not seen has no stream. */
  const onVisibility = async () => {
    const world = cell.open();
    if (world === undefined || isAtRest(world)) return;
    const left = leaving;
    left.abort();
    if (document.hidden) return cell.patch({ connection: { state: 'hidden' } });
    cell.patch({ connection: { state: 'opening' } });
    const [newest] = await reader.entriesBefore(undefined, new AbortController().signal).catch(() => []);
    // Another moment may have been chosen meanwhile, or the page is out of sight again.
    if (leaving !== left || document.hidden) return;
    restart(at !== undefined || isOther(world, newest));
  };
  document.addEventListener('visibilitychange', () => void onVisibility());
  restart(true);
  return {
    current: cell.current,
    subscribe: cell.subscribe,
    load: createLoad(reader, cell),
    search: (schema, search, signal) => reader.search(schema, search, cell.open()?.moment, signal),
    readEarlier: async () => {
      const from = cell.open()?.entries ?? [];
      const earlier = await reader.entriesBefore(from.at(-1)?.seq, leaving.signal);
      const entries = withEarlier(cell.open()?.entries ?? [], from, earlier);
      cell.patch({ entries, hasEarlier: (entries.at(-1)?.seq ?? 1) > 1 && earlier.length > 0 });
    },
    show: (seq) => {
      at = seq;
      cell.patch({ connection: { state: 'opening' } });
      restart(true);
    },
  };
}

/** Whether so much has happened since, or the journal went on so differently, that what is shown has to be read anew. */
function isOther({ seq, entries }: OpenWorld, newest: Entry | undefined): boolean {
  if (newest === undefined) return false;
  const held = entries.find((one) => one.seq === newest.seq);
  return newest.seq - seq > MOST_MISSED || (held !== undefined && held.hash !== newest.hash);
}

/** The world as it is shown now, and who wants to know of the next. */
function createCell() {
  const listeners = new Set<() => void>();
  let world: World = { kind: 'opening', since: Date.now() };
  const open = (): OpenWorld | undefined => (world.kind === 'open' ? world : undefined);
  const tell = (next: World) => {
    world = next;
    for (const told of listeners) told();
  };
  const patch = (more: Partial<OpenWorld>) => {
    if (world.kind === 'open') tell({ ...world, ...more });
  };
  return {
    current: () => world,
    open,
    tell,
    patch,
    /** From the first loss on, until something is heard again. */
    lose: (why?: string) => {
      const connection = open()?.connection;
      const since = connection?.state === 'lost' ? connection.since : Date.now();
      patch({ connection: { state: 'lost', since, ...(why !== undefined && { why }) } });
    },
    subscribe: (told: () => void) => {
      listeners.add(told);
      return () => void listeners.delete(told);
    },
  };
}

type Cell = ReturnType<typeof createCell>;

interface Running {
  readonly address: string;
  readonly reader: Reader;
  readonly cell: Cell;
  /** The moment that is asked for. */
  readonly at: number | undefined;
}

/** A page that has nothing to follow. */
const isAtRest = ({ connection: { state } }: OpenWorld): boolean => state === 'past' || state === 'closed';

/** What the service itself says where no world is open, or not any more. */
const CLOSED: ReadonlySet<string> = new Set(['deployment_not_found', 'deployment_not_public']);

/** Reads and follows until it is ended; begins again where the journal was cut, or the server was away. */
async function run(running: Running, signal: AbortSignal, isReadingAnew: boolean): Promise<void> {
  const { cell } = running;
  for (let isAnew = isReadingAnew; !signal.aborted; isAnew = true) {
    try {
      if (isAnew || cell.open() === undefined) await read(running, signal);
      if (cell.open()?.connection.state === 'past') return;
      if (document.hidden) return cell.patch({ connection: { state: 'hidden' } });
      await follow(running, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof OrreryError && error.code === 'tail_lost') continue;
      const refusal = refusalIn(error);
      if (refusal !== undefined && cell.open() === undefined)
        return cell.tell({ kind: 'refused', code: refusal.code, detail: refusal.message });
      if (refusal !== undefined && CLOSED.has(refusal.code))
        return cell.patch({ connection: { state: 'closed' } });
      cell.lose(refusal?.message);
      await new Promise((later) => setTimeout(later, RETRY_MS));
    }
  }
}

/** An answer by which the same request will not succeed; once a world was open it may be a proxy's while the server is away. */
const refusalIn = (error: unknown): OrreryError | undefined =>
  error instanceof OrreryError && !error.retryable && !error.isUndecided ? error : undefined;

/**
 * Reads what is shown from the start: the journal's end before the instances. Entries that come meanwhile are applied to what
 * was read afterwards, once more where it has them already.
 */
async function read({ reader, cell, at }: Running, signal: AbortSignal): Promise<void> {
  const [deployment, newest] = await Promise.all([
    reader.describe(signal),
    reader.entriesBefore(undefined, signal),
  ]);
  const last = newest[0]?.seq ?? 0;
  // A moment that has not come yet is now.
  const past = at !== undefined && at <= last ? at : undefined;
  const seq = past ?? last;
  const entries = seq === last ? newest : await reader.entriesBefore(seq + 1, signal);
  const schemas = deployment.entitySchemas;
  const first = busiestOf(entries) ?? schemas[0];
  const shown = [...(cell.open()?.loaded.keys() ?? [])];
  const loaded = new Map<string, Rows>();
  for (const schema of shown.length > 0 || first === undefined ? shown : [first])
    loaded.set(schema, await reader.rowsOf(schema, past, signal));
  cell.tell({
    kind: 'open',
    deployment,
    seq,
    last,
    entries,
    schemas,
    loaded,
    hasEarlier: (entries.at(-1)?.seq ?? 1) > 1,
    moment: past,
    connection: { state: past === undefined ? 'opening' : 'past' },
  });
}

/** The schema in which most has happened lately: what one wants to see first. */
function busiestOf(entries: readonly Entry[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { entitySchema, op } of entries.flatMap(({ changes }) => changes))
    if (op !== 'delete') counts.set(entitySchema, (counts.get(entitySchema) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** Applies what the stream tells, drawn some times a second. @throws as the stream of the SDK does */
async function follow({ address, reader, cell }: Running, signal: AbortSignal): Promise<void> {
  let told: Entry[] = [];
  const draw = () => {
    const entries = told;
    told = [];
    const world = cell.open();
    if (world === undefined || signal.aborted) return;
    const shown = applyEntries(world, entries);
    const hasEarlier = (shown.entries.at(-1)?.seq ?? 1) > 1;
    cell.patch({ ...shown, last: Math.max(world.last, shown.seq), hasEarlier });
    // Such entries leave what the page says about the deployment itself as it is.
    if (entries.every(({ kind }) => INNER_KINDS.has(kind))) return;
    reader.describe(signal).then(
      (deployment) => cell.patch({ deployment }),
      () => undefined,
    );
  };
  const onConnection = (isOpen: boolean) => {
    if (signal.aborted) return;
    if (isOpen) cell.patch({ connection: { state: 'live' } });
    else cell.lose();
  };
  const options = { after: lastOf(cell.open()), include: 'all', signal, onConnection } as const;
  for await (const event of orrery.published(address).stream(options)) {
    if (event.type !== 'entry') continue;
    if (told.length === 0) setTimeout(draw, DRAW_MS);
    told.push(event.entry as Entry);
  }
}

/** The entry after which the stream begins; with its hash a database that was restored meanwhile is found. */
function lastOf(world: OpenWorld | undefined): number | Entry {
  const seq = world?.seq ?? 0;
  return world?.entries.find((one) => one.seq === seq) ?? seq;
}

/** Reads a schema that is looked at for the first time. */
function createLoad(reader: Reader, cell: Cell): WorldStore['load'] {
  const loading = new Set<string>();
  return (schema) => {
    const begun = cell.open();
    if (begun === undefined || begun.loaded.has(schema) || loading.has(schema)) return;
    loading.add(schema);
    reader
      .rowsOf(schema, begun.moment, new AbortController().signal)
      .then((rows) => {
        const world = cell.open();
        // Of another moment than is shown by now: the page asks for that one.
        if (world === undefined || world.moment !== begun.moment) return;
        // Entries that came while it was read are applied to it, once more where it has them already.
        const missed = world.entries.filter(({ seq }) => seq > begun.seq).toReversed();
        const alone = { ...world, seq: begun.seq, entries: [], loaded: new Map([[schema, rows]]) };
        const { loaded } = applyEntries(alone, missed);
        cell.patch({ loaded: new Map([...world.loaded, ...loaded]) });
      })
      .catch(() => undefined)
      .finally(() => loading.delete(schema));
  };
}
