import type { ServiceError } from '@orrery/contracts';
import { Slots } from '@orrery/service-kit';
import { z } from 'zod';
import { unanswered } from '../in-flight/in-flight.js';
import type { Serving } from '../ports/transport.js';
import { aliveSubject, instanceSubject, probeFrame, tokenSubject } from '../wire/wire-format.js';
import type { Connection } from './connection.js';
import { toMessageHeaders } from './headers.js';
import { type Inbox, isNoResponders } from './inbox.js';

// A queue group goes on feeding a process that has been stopped, until the server's pings fail minutes later, and a
// caller does not learn which process took its request. So each serving process broadcasts a heartbeat. Callers send to
// a process that they hear, and give up a request whose process has fallen silent. A process that is called by name and
// was never heard may be of an earlier release, which has no heartbeats, or may have stopped before the caller started:
// while a request to it waits, it is sent a request that every release refuses at once, and the refusal says that it runs.

/** A serving process, as its heartbeats describe it. */
export interface LiveInstance {
  readonly name: string;
}

/** A request that waits for the answer of one process. */
export interface Awaiting {
  /** Where the request was sent. */
  readonly subject: string;
  /** The process has been silent for its TTL. */
  readonly onGone: (reason: ServiceError) => void;
}

export interface LiveInstances {
  /** The process to send a call to that any of the group may answer; `undefined` when none has been heard. */
  choose(group: string): LiveInstance | undefined;
  named(group: string, name: string): LiveInstance;
  /** Where it serves what its group shares on a subject. */
  subjectOf(instance: LiveInstance, subject: string): string;
  /** It was heard, and has missed heartbeats: it may be stopped or gone. */
  isSilent(instance: LiveInstance): boolean;
  /** The server says that nobody serves under its name: it is not chosen until its next heartbeat. */
  unreachable(instance: LiveInstance): void;
  /** Returns the number by which `unwatch` knows the request. */
  watch(instance: LiveInstance, request: Awaiting): number;
  unwatch(instance: LiveInstance, number: number): void;
  /** Broadcasts heartbeats of this process from now on. */
  announce(group: string, serving: Serving): void;
  /** The heartbeats go on and say that this process takes no more calls. */
  leave(): void;
  stop(): void;
}

const BEAT_MS = 1000;
/** A process is avoided after this time without a heartbeat, in milliseconds, or after a third of its TTL. */
const SILENT_MS = 2000;
const TICK_MS = 250;
/** A silent process is remembered for this long, in milliseconds: a stopped one may take calls of its queue group. */
const MEMORY_MS = 10 * 60_000;
/** TTL of a process that was never heard, in milliseconds, unless another process of its group was. */
const UNHEARD_TTL_MS = 6000;
/** Heartbeats and probes follow each other after this time, in milliseconds. */
const beatMs = (ttlMs: number): number => Math.min(BEAT_MS, ttlMs / 6);
/** Requests to one process in a row: as many as fit in a pack, so that packs stay whole. */
const IN_A_ROW = 16;

const heartbeat = z.object({
  instance: z.string(),
  ttlMs: z.number().positive(),
  isLeaving: z.boolean().default(false),
  /** Absent in earlier releases, which serve on `instanceSubject` alone. */
  hasToken: z.boolean().default(false),
});

interface Known extends LiveInstance {
  /** `undefined` until it is heard: a process of an earlier release never is. */
  ttlMs: number | undefined;
  /** Its last heartbeat, or its last answer to a probe. */
  heardAt: number;
  probedAt: number;
  /** It has said that it takes calls. */
  isServing: boolean;
  /** It serves on `tokenSubject` too. */
  hasToken: boolean;
  readonly requests: Slots<Watched>;
}

/** A request, and when it was sent, in the time of `createListeningTime`. */
interface Watched {
  readonly request: Awaiting;
  readonly sentAt: number;
}

interface Group {
  /** Of the last heartbeat; its processes are alike. */
  ttlMs: number;
  readonly instances: Map<string, Known>;
  /** Chosen for this turn of the event loop. */
  chosen: Known | undefined;
  isTurnWatched: boolean;
  uses: number;
  next: number;
}

export function createLiveInstances(connection: Connection, inbox: Pick<Inbox, 'open'>): LiveInstances {
  const groups = new Map<string, Group>();
  const time = createListeningTime(() => connection.up);
  const heartbeats = createHeartbeats(connection);
  const known = (instance: LiveInstance) => instance as Known;
  const silence = ({ heardAt }: Known) => time.now() - heardAt;
  const isSilent = (one: Known) =>
    one.ttlMs !== undefined && silence(one) >= Math.min(SILENT_MS, one.ttlMs / 3);
  const probe = createProbe(connection, inbox);

  connection.subscribe(connection.named(aliveSubject('*')), (message) => {
    const group = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    const { instance, ttlMs, isLeaving, hasToken } = heartbeat.parse(message.json());
    const heardAt = time.now();
    const of = groupOf(groups, group);
    of.ttlMs = ttlMs;
    Object.assign(instanceOf(of, instance, heardAt), { ttlMs, heardAt, isServing: !isLeaving, hasToken });
  });
  // Heartbeats of the time without a connection are lost.
  connection.watch({ onUp: () => forEach(groups, (one) => Object.assign(one, { heardAt: time.now() })) });
  const ticking = setInterval(() => {
    time.tick();
    forEach(groups, (one, { instances, ttlMs: unheardTtlMs }) => {
      const { ttlMs = unheardTtlMs } = one;
      if (one.ttlMs === undefined) probe(one, ttlMs, time.now);
      if (silence(one) >= ttlMs) giveUp(one, ttlMs, time.now());
      if (silence(one) >= MEMORY_MS && one.requests.entries().length === 0) instances.delete(one.name);
    });
  }, TICK_MS).unref();

  const next = (group: Group): Known | undefined => {
    const serving = [...group.instances.values()].filter(({ isServing }) => isServing);
    const heard = serving.filter((one) => !isSilent(one));
    // With silent ones only, the last one heard: the request is then given up in time.
    if (heard.length === 0) return serving.sort((a, b) => b.heardAt - a.heardAt)[0];
    group.next += 1;
    return heard[group.next % heard.length];
  };

  return {
    choose: (name) => {
      const group = groups.get(name);
      if (group === undefined) return undefined;
      if (group.chosen === undefined || group.uses >= IN_A_ROW) {
        group.chosen = next(group);
        group.uses = 0;
        endWithTurn(group);
      }
      group.uses += 1;
      return group.chosen;
    },
    subjectOf: (instance, subject) =>
      (known(instance).hasToken ? tokenSubject : instanceSubject)(subject, instance.name),
    named: (group, name) => instanceOf(groupOf(groups, group), name, time.now()),
    isSilent: (instance) => isSilent(known(instance)),
    unreachable: (instance) => {
      known(instance).isServing = false;
      for (const group of groups.values()) if (group.chosen === instance) group.chosen = undefined;
    },
    watch: (instance, request) => known(instance).requests.add({ request, sentAt: time.now() }),
    unwatch: (instance, number) => known(instance).requests.take(number),
    ...heartbeats,
    stop: () => {
      clearInterval(ticking);
      heartbeats.stop();
    },
  };
}

const groupOf = (groups: Map<string, Group>, name: string): Group => {
  const group = groups.get(name) ?? {
    ttlMs: UNHEARD_TTL_MS,
    instances: new Map(),
    chosen: undefined,
    isTurnWatched: false,
    uses: 0,
    next: 0,
  };
  groups.set(name, group);
  return group;
};

const instanceOf = ({ instances }: Group, name: string, heardAt: number): Known => {
  const known = instances.get(name);
  if (known !== undefined) return known;
  const one: Known = {
    name,
    ttlMs: undefined,
    heardAt,
    probedAt: heardAt,
    isServing: false,
    hasToken: false,
    requests: new Slots(),
  };
  instances.set(name, one);
  return one;
};

const forEach = (groups: Map<string, Group>, act: (one: Known, group: Group) => void): void => {
  for (const group of groups.values()) for (const one of group.instances.values()) act(one, group);
};

function endWithTurn(group: Group): void {
  if (group.isTurnWatched) return;
  group.isTurnWatched = true;
  setImmediate(() => {
    group.isTurnWatched = false;
    group.chosen = undefined;
  });
}

/** Requests sent to a process that was silent already are given its whole TTL as well. */
function giveUp({ requests }: Known, ttlMs: number, now: number): void {
  for (const [number, { request, sentAt }] of requests.entries()) {
    if (now - sentAt < ttlMs) continue;
    requests.take(number);
    request.onGone(processGone());
  }
}

/** Probes a process, if a request to it waits and it was not probed just now. */
const createProbe =
  (connection: Connection, inbox: Pick<Inbox, 'open'>) => (one: Known, ttlMs: number, now: () => number) => {
    if (!connection.up) return;
    const before = now() - beatMs(ttlMs);
    const [, waiting] = one.requests.entries().find(([, { sentAt }]) => sentAt <= before) ?? [];
    if (waiting === undefined || one.probedAt > before) return;
    const { subject } = waiting.request;
    one.probedAt = now();
    const address = inbox.open((arrival) => {
      if (!isNoResponders(arrival)) one.heardAt = now();
    });
    setTimeout(() => address[Symbol.dispose](), ttlMs).unref();
    const { headers, body } = probeFrame();
    connection.nats.publish(connection.named(subject), body, {
      reply: address.subject,
      headers: toMessageHeaders(headers),
    });
  };

const processGone = (): ServiceError => unanswered('The process that took the request is gone.');

/**
 * Milliseconds during which this process could hear others. While it was stopped or busy itself, or had no connection,
 * their silence means nothing: a tick counts as two at most.
 */
function createListeningTime(isListening: () => boolean) {
  let total = 0;
  let tickedAt = performance.now();
  return {
    now: () => total,
    tick: () => {
      const elapsed = performance.now() - tickedAt;
      tickedAt += elapsed;
      if (isListening()) total += Math.min(elapsed, 2 * TICK_MS);
    },
  };
}

function createHeartbeats(connection: Connection): Pick<LiveInstances, 'announce' | 'leave' | 'stop'> {
  const announced = new Map<string, { send: () => void; timer: NodeJS.Timeout }>();
  let isLeaving = false;
  return {
    announce: (group, { instance, ttlMs }) => {
      if (announced.has(group)) return;
      const send = () => {
        if (!connection.up) return;
        const body = JSON.stringify({ instance, ttlMs, hasToken: true, ...(isLeaving && { isLeaving }) });
        connection.nats.publish(connection.named(aliveSubject(group)), body);
      };
      announced.set(group, { send, timer: setInterval(send, beatMs(ttlMs)).unref() });
      send();
    },
    leave: () => {
      isLeaving = true;
      for (const { send } of announced.values()) send();
    },
    stop: () => {
      for (const { timer } of announced.values()) clearInterval(timer);
    },
  };
}
