import type { IncomingMessage } from 'node:http';

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/** A proxy on this machine is a neighbour too, but its clients are not. */
const OF_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Whether a request was sent on this machine: over loopback, and not by a proxy for somebody else. */
export const isFromHere = ({ raw: { socket, headers } }: { raw: IncomingMessage }): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') && OF_PROXIES.every((name) => headers[name] === undefined);
