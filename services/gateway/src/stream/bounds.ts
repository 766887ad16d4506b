import { ServiceError } from '@orrery/contracts';
import type { FastifyRequest } from 'fastify';
import { clientSubject } from '../core/clients/clients.js';
import { principalOf } from '../http/access/access.js';
import { boundEach } from '../http/load/bound-each.js';

/** How many streams may be open in this process: without a key, and of one account with one. */
export interface StreamBounds {
  readonly perAccount: number;
  readonly perAddress: number;
  readonly perDeployment: number;
  readonly ofStrangers: number;
  /** Bytes that clients have not taken of what was sent to them; default 64 MiB. */
  readonly untakenBytes?: number;
}

/** Counts a stream that is about to open; what is returned counts it off. @throws `overloaded`, `rate_limited` */
export type CountStream = (http: FastifyRequest) => () => void;

export const full = (what: string) => new ServiceError('overloaded', what);

interface BoundContext {
  readonly maxStreams: number;
  readonly streamBounds: StreamBounds;
  /** Undefined: no client is limited. */
  readonly rates: unknown;
}

/** No account takes all streams with a key. */
export const boundHolders = ({ maxStreams, streamBounds: { perAccount }, rates }: BoundContext) =>
  boundBoth(maxStreams, {
    nameOf: (http) => String(principalOf(http)?.accountId),
    most: rates === undefined ? Number.POSITIVE_INFINITY : perAccount,
    refusal: `An account may have ${perAccount} streams open.`,
  });

/** Strangers have a number of their own, so that they take no stream from who has a key. */
export const boundStrangers = ({ streamBounds: { perAddress, ofStrangers }, rates }: BoundContext) =>
  boundBoth(ofStrangers, {
    nameOf: (http) => clientSubject(http.ip),
    most: rates === undefined ? Number.POSITIVE_INFINITY : perAddress,
    refusal: `A client address may have ${perAddress} streams open.`,
  });

interface EachClient {
  readonly nameOf: (http: FastifyRequest) => string;
  readonly most: number;
  readonly refusal: string;
}

/** Bounds the streams of each client, and of all together. */
function boundBoth(mostInAll: number, { nameOf, most, refusal }: EachClient): CountStream {
  const inAll = boundEach(mostInAll, () => full('Too many streams are open.'));
  const ofOne = boundEach(
    most,
    () => new ServiceError('rate_limited', refusal, { facts: { retryAfterSeconds: 5 } }),
  );
  return (http) => {
    const leaveOne = ofOne(nameOf(http));
    try {
      const leaveAll = inAll('all');
      return () => {
        leaveAll();
        leaveOne();
      };
    } catch (error) {
      leaveOne();
      throw error;
    }
  };
}

/** What was sent to clients that have not taken it yet; several may be sent the same. */
interface Sent {
  readonly bytes: Uint8Array;
  /** For how many it is held. */
  holders: number;
}

/**
 * What is held for clients until they take it, up to so many bytes together: beyond it those are cut who have not taken
 * theirs for the longest time, and who share theirs with others after the rest, as that frees nothing. So clients that do not
 * read keep nobody else waiting.
 */
export function boundUntaken(mostBytes: number) {
  const held = new Set<{ readonly sent: Sent; readonly cut: () => void }>();
  let sum = 0;
  return {
    hold: async <T>(sent: Sent, cut: () => void, work: () => Promise<T>): Promise<T> => {
      const own = { sent, cut };
      held.add(own);
      sent.holders += 1;
      if (sent.holders === 1) sum += sent.bytes.length;
      for (const most of [1, Number.POSITIVE_INFINITY])
        for (const one of held) {
          if (sum <= mostBytes) break;
          if (one === own || one.sent.holders > most) continue;
          release(one);
          one.cut();
        }
      try {
        return await work();
      } finally {
        release(own);
      }
    },
  };

  function release(one: { readonly sent: Sent; readonly cut: () => void }): void {
    if (!held.delete(one)) return;
    one.sent.holders -= 1;
    if (one.sent.holders === 0) sum -= one.sent.bytes.length;
  }
}
