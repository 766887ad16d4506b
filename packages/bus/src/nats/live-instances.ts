import type { ServiceError } from '@orrery/contracts';
import { Slots } from '@orrery/service-kit';
import { z } from 'zod';
import { unanswered } from '../in-flight/in-flight.js';
import type { Serving } from '../ports/transport.js';
import { aliveSubject } from '../wire/wire-format.js';
import type { Connection } from './connection.js';

// A queue group goes on feeding a process that has been stopped, until the server's pings fail minutes later, and a
// caller does not learn which process took its request. So each serving process broadcasts a heartbeat. Callers send to
// a process that they hear, and give up a request whose process has fallen silent, or that was never heard.

/** A request that waits for the answer of one process. */
interface Awaiting {
  /** The process has been silent for its TTL. */
  readonly onGone: (reason: ServiceError) => void;
  /** When it was sent, in the time of `createListeningTime`. */
  readonly sentAt: number;
}

/** A serving process, as its heartbeats describe it. */
export interface LiveInstance {
  readonly name: string;
  /** `undefined` until it is heard. */
  ttlMs: number | undefined;
  heardAt: number;
  /** It has said that it takes calls. */
  isServing: boolean;
  readonly requests: Slots<Awaiting>;
}

interface Group {
  /** Of the last heartbeat; its processes are alike. */
  ttlMs: number;
  readonly instances: Map<string, LiveInstance>;
  /** Chosen for this turn of the event loop. */
  chosen: LiveInstance | undefined;
  isTurnWatched: boolean;
  uses: number;
  next: number;
}

const BEAT_MS = 1000;
/** A process is avoided after this time without a heartbeat, in milliseconds, or after a third of its TTL. */
const SILENT_MS = 2000;
const TICK_MS = 250;
/** A silent process is remembered for this long, in milliseconds: a stopped one may take calls of its queue group. */
const MEMORY_MS = 10 * 60_000;
/** TTL of a process that was never heard, in milliseconds, unless another process of its group was. */
const UNHEARD_TTL_MS = 6000;
/** Requests to one process in a row: as many as fit in a pack, so that packs stay whole. */
const IN_A_ROW = 16;

const heartbeat = z.object({
  instance: z.string(),
  ttlMs: z.number().positive(),
  isLeaving: z.boolean().default(false),
});

/** The processes that this one hears, by the service that they serve. */
export class LiveInstances {
  readonly #groups = new Map<string, Group>();
  readonly #time = createListeningTime();
  readonly #ticking: NodeJS.Timeout;

  constructor(connection: Connection) {
    connection.subscribe(connection.named(aliveSubject('*')), (message) => {
      const group = this.#groupOf(message.subject.slice(message.subject.lastIndexOf('.') + 1));
      const { instance, ttlMs, isLeaving } = heartbeat.parse(message.json());
      group.ttlMs = ttlMs;
      const one = this.#instanceOf(group, instance);
      Object.assign(one, { ttlMs, heardAt: this.#time.now(), isServing: !isLeaving });
    });
    // Heartbeats of the time without a connection are lost.
    connection.watch({
      onUp: () => this.#forEach((one) => Object.assign(one, { heardAt: this.#time.now() })),
    });
    this.#ticking = setInterval(() => {
      this.#time.tick(connection.up);
      this.#forEach((one, group) => this.#giveUp(one, group));
    }, TICK_MS).unref();
  }

  /** The process to send a call to that any of the group may answer; `undefined` when none has been heard. */
  choose(name: string): LiveInstance | undefined {
    const group = this.#groups.get(name);
    if (group === undefined) return undefined;
    if (group.chosen === undefined || group.uses >= IN_A_ROW) {
      group.chosen = this.#next(group);
      group.uses = 0;
      endWithTurn(group);
    }
    group.uses += 1;
    return group.chosen;
  }

  named(group: string, name: string): LiveInstance {
    return this.#instanceOf(this.#groupOf(group), name);
  }

  /** It was heard, and has missed heartbeats: it may be stopped or gone. */
  isSilent(one: LiveInstance): boolean {
    return one.ttlMs !== undefined && this.#silence(one) >= Math.min(SILENT_MS, one.ttlMs / 3);
  }

  /** The server says that nobody serves under its name: it is not chosen until its next heartbeat. */
  unreachable(instance: LiveInstance): void {
    instance.isServing = false;
    for (const group of this.#groups.values()) if (group.chosen === instance) group.chosen = undefined;
  }

  /** Returns the number by which `instance.requests` holds the request, until it is taken from there. */
  watch({ requests }: LiveInstance, onGone: Awaiting['onGone']): number {
    return requests.add({ onGone, sentAt: this.#time.now() });
  }

  stop(): void {
    clearInterval(this.#ticking);
  }

  #silence({ heardAt }: LiveInstance): number {
    return this.#time.now() - heardAt;
  }

  #next(group: Group): LiveInstance | undefined {
    const serving = [...group.instances.values()].filter(({ isServing }) => isServing);
    const heard = serving.filter((one) => !this.isSilent(one));
    // With silent ones only, the last one heard: the request is then given up in time.
    if (heard.length === 0) return serving.sort((a, b) => b.heardAt - a.heardAt)[0];
    group.next += 1;
    return heard[group.next % heard.length];
  }

  /** Requests sent to a process that was silent already are given its whole TTL as well. */
  #giveUp(one: LiveInstance, { instances, ttlMs: unheardTtlMs }: Group): void {
    const { ttlMs = unheardTtlMs, requests } = one;
    const now = this.#time.now();
    if (this.#silence(one) >= ttlMs)
      for (const [number, { onGone, sentAt }] of requests.entries()) {
        if (now - sentAt < ttlMs) continue;
        requests.take(number);
        onGone(unanswered('The process that took the request is gone.'));
      }
    if (this.#silence(one) >= MEMORY_MS && requests.entries().length === 0) instances.delete(one.name);
  }

  #groupOf(name: string): Group {
    const group = this.#groups.get(name) ?? {
      ttlMs: UNHEARD_TTL_MS,
      instances: new Map(),
      chosen: undefined,
      isTurnWatched: false,
      uses: 0,
      next: 0,
    };
    this.#groups.set(name, group);
    return group;
  }

  #instanceOf({ instances }: Group, name: string): LiveInstance {
    const one = instances.get(name) ?? {
      name,
      ttlMs: undefined,
      heardAt: this.#time.now(),
      isServing: false,
      requests: new Slots(),
    };
    instances.set(name, one);
    return one;
  }

  #forEach(act: (one: LiveInstance, group: Group) => void): void {
    for (const group of this.#groups.values()) for (const one of group.instances.values()) act(one, group);
  }
}

function endWithTurn(group: Group): void {
  if (group.isTurnWatched) return;
  group.isTurnWatched = true;
  setImmediate(() => {
    group.isTurnWatched = false;
    group.chosen = undefined;
  });
}

/**
 * Milliseconds during which this process could hear others. While it was stopped or busy itself, or had no connection,
 * their silence means nothing: a tick counts as two at most.
 */
function createListeningTime() {
  let total = 0;
  let tickedAt = performance.now();
  return {
    now: () => total,
    tick: (isListening: boolean) => {
      const elapsed = performance.now() - tickedAt;
      tickedAt += elapsed;
      if (isListening) total += Math.min(elapsed, 2 * TICK_MS);
    },
  };
}

/** The heartbeats of this process, one for each service that it serves. */
export class Heartbeats {
  readonly #announced = new Map<string, { send: () => void; timer: NodeJS.Timeout }>();
  #isLeaving = false;

  constructor(private readonly connection: Connection) {}

  /** Broadcasts them from now on. */
  announce(group: string, { instance, ttlMs }: Serving): void {
    if (this.#announced.has(group)) return;
    const send = () => {
      if (!this.connection.up) return;
      const leaving = this.#isLeaving && { isLeaving: true };
      // `hasToken` is for the release before, which serves on two subjects.
      const body = JSON.stringify({ instance, ttlMs, hasToken: true, ...leaving });
      this.connection.nats.publish(this.connection.named(aliveSubject(group)), body);
    };
    this.#announced.set(group, { send, timer: setInterval(send, Math.min(BEAT_MS, ttlMs / 6)).unref() });
    send();
  }

  /** They go on and say that this process takes no more calls. */
  leave(): void {
    this.#isLeaving = true;
    for (const { send } of this.#announced.values()) send();
  }

  stop(): void {
    for (const { timer } of this.#announced.values()) clearInterval(timer);
  }
}
