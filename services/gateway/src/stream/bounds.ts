import { ServiceError } from '@orrery/contracts';
import type { FastifyRequest } from 'fastify';
import { clientSubject } from '../core/clients/clients.js';

/** How many streams without a key may be open in this process. */
export interface StreamBounds {
  readonly perAddress: number;
  readonly perDeployment: number;
  readonly ofStrangers: number;
}

/** Counts a stream that is about to open; what is returned counts it off. @throws `overloaded`, `rate_limited` */
export type CountStream = (http: FastifyRequest) => () => void;

export const full = (what: string) => new ServiceError('overloaded', what);

export function boundAll(most: number): CountStream {
  let open = 0;
  return () => {
    if (open >= most) throw full('Too many streams are open.');
    open += 1;
    return () => {
      open -= 1;
    };
  };
}

/** Strangers have a number of their own, so that they take no stream from who has a key. */
export function boundStrangers({
  streamBounds: { perAddress, ofStrangers },
  rates,
}: {
  streamBounds: StreamBounds;
  rates: unknown;
}): CountStream {
  const inAll = boundAll(ofStrangers);
  const most = rates === undefined ? Number.POSITIVE_INFINITY : perAddress;
  const ofAddress = boundEach(most, () => {
    const facts = { retryAfterSeconds: 5 };
    return new ServiceError('rate_limited', `A client address may have ${perAddress} streams open.`, {
      facts,
    });
  });
  return (http) => {
    const leaveAddress = ofAddress(clientSubject(http.ip));
    try {
      const leaveAll = inAll(http);
      return () => {
        leaveAll();
        leaveAddress();
      };
    } catch (error) {
      leaveAddress();
      throw error;
    }
  };
}

/** Counts by names; what is returned counts off. @throws the refusal beyond `most` of one name */
export function boundEach(most: number, refusal: () => ServiceError): (name: string) => () => void {
  const counts = new Map<string, number>();
  return (name) => {
    const open = counts.get(name) ?? 0;
    if (open >= most) throw refusal();
    counts.set(name, open + 1);
    return () => {
      const left = (counts.get(name) ?? 0) - 1;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    };
  };
}

/**
 * What is held for clients until they take it, up to so many bytes together: beyond it those are cut who have not taken
 * theirs for the longest time. So clients that do not read keep nobody else waiting.
 */
export function boundUntaken(mostBytes: number) {
  const held = new Set<{ readonly bytes: number; readonly cut: () => void }>();
  let sum = 0;
  return {
    hold: async <T>(bytes: number, cut: () => void, work: () => Promise<T>): Promise<T> => {
      const own = { bytes, cut };
      held.add(own);
      sum += bytes;
      for (const one of held) {
        if (sum <= mostBytes || one === own) break;
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

  function release(one: { readonly bytes: number; readonly cut: () => void }): void {
    if (held.delete(one)) sum -= one.bytes;
  }
}
