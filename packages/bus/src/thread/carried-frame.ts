import type { Frame } from '../transport.js';

/**
 * A frame as it goes through a port: the body, then the headers' names and values. Strings in a row are cloned in half
 * the time of objects, whose members' names would travel with each of them.
 */
export type CarriedFrame = readonly string[];

export function carryFrame({ headers, body }: Frame): CarriedFrame {
  const carried = [body];
  for (const name in headers) carried.push(name, headers[name] ?? '');
  return carried;
}

export function readFrame(carried: CarriedFrame): Frame {
  const headers: Record<string, string> = {};
  for (let at = 1; at < carried.length; at += 2) headers[carried[at] ?? ''] = carried[at + 1] ?? '';
  return { headers, body: carried[0] ?? '' };
}
