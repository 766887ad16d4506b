import { parseJson, type RoutedRpc } from '@orrery/contracts';

/** A committed execution: it has neither a `Location` nor an `ETag`, and nobody waits for its run. */
const COMMITTED = '{"data":{"kind":"committed",';

/**
 * Whether a reply that came over the bus can be passed on as it is: the gateway needs to know nothing of it but the `ETag` at
 * its end. The serving end writes the members of a reply in the order of its schema.
 */
export const mayPass = ({ http }: RoutedRpc, text: string): boolean =>
  text.startsWith(COMMITTED) || (http.location === undefined && http.accepted === undefined);

/** A member of the reply itself, since the last bracket closes it; a quote within a text is written with a backslash. */
const ETAG = /,"etag":("(?:[^"\\]|\\.)*")\}$/;

/** The success envelope with the members of a reply's text, but for its `ETag`. */
export function envelopeOf(text: string): { readonly body: string; readonly etag: string | undefined } {
  const members = text.slice(1);
  const found = text.endsWith('"}') ? ETAG.exec(members) : null;
  if (found?.[1] === undefined) return { body: `{"success":true,${members}`, etag: undefined };
  return { body: `{"success":true,${members.slice(0, found.index)}}`, etag: String(parseJson(found[1])) };
}
