import { errorReply, fromErrorReply, type NamedRpc, type ReplyOf, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { z } from 'zod';
import { decodeBody, encodeBody, MAX_CALL_BYTES } from '../body.js';
import type { CallOptions } from '../port.js';
import type { Signals } from '../signals.js';
import { instanceSubject } from '../subjects.js';
import type { Exchange, Frame } from '../transport.js';
import { ERROR_HEADER, writeCallHeaders } from './call-headers.js';
import { lateError } from './late.js';

export interface CallDependencies {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly signals: Signals;
}

/** The calling half of the port. The reply is trusted: the serving side has checked it. */
export const createCall =
  ({ exchange, clock, signals }: CallDependencies) =>
  <R extends NamedRpc>(rpc: R, request: z.input<R['request']>, options: CallOptions): Promise<ReplyOf<R>> =>
    signals.called(rpc, async () => {
      const timeoutMs = options.deadline - clock.now();
      if (timeoutMs <= 0) throw lateError();
      const frame = {
        headers: writeCallHeaders(options, timeoutMs),
        body: encodeBody(request, MAX_CALL_BYTES),
      };
      const subject = options.instance === undefined ? rpc.subject : instanceSubject(rpc, options.instance);
      const reply = await exchange.request(subject, frame, {
        group: rpc.service,
        timeoutMs,
        signal: options.signal,
      });
      return readReply<ReplyOf<R>>(reply);
    });

function readReply<T>({ headers, body }: Frame): T {
  if (headers[ERROR_HEADER] === undefined) return decodeBody(body) as T;
  const parsed = errorReply.safeParse(decodeBody(body));
  throw parsed.success
    ? fromErrorReply(parsed.data)
    : new ServiceError('internal', 'The answer is not readable');
}
