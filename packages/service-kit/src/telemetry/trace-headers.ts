import { type Context, context, propagation } from '@opentelemetry/api';

/** Message headers, names in lower case. */
export type Headers = Record<string, string>;

/** Adds `traceparent` and `tracestate` (W3C Trace Context) of the active span, if there is one. */
export function injectTrace(headers: Headers): Headers {
  propagation.inject(context.active(), headers);
  return headers;
}

/** The context that the headers name; without usable headers the active one. */
export const extractTrace = (headers: Readonly<Headers>): Context =>
  propagation.extract(context.active(), headers);

/** Runs `fn` as a part of the trace that the headers name. */
export const withinTrace = <T>(headers: Readonly<Headers>, fn: () => T): T =>
  context.with(extractTrace(headers), fn);
