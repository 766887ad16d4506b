import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { GrowingAnswer } from './growing-answer.js';

export interface AnswerLimits {
  /** Ms within which a client has to take some of what it was answered; default 30 s. */
  takenWithinMs?: number;
  /** Bytes of answers of this process that clients have not taken; default 128 MiB. */
  maxUntakenBytes?: number;
}

/** Ms in which a client takes some of what was sent to it; after that its connection is cut. */
export const TAKEN_WITHIN_MS = 30_000;
const MAX_UNTAKEN_BYTES = 128 * 1024 * 1024;
/** Requests of a connection that may be open: pipelined ones cost their sender a few bytes each. */
const MAX_OPEN = 32;
/** A longer answer is written in pieces, so that it can be seen whether its client takes any of it. */
export const PIECE_BYTES = 64 * 1024;
/** What an answer takes that is read from a file while it is sent, or whose bytes all readers of it share. */
const SHARED_BYTES = 2 * PIECE_BYTES;
/** What a request takes that waits behind another one of its connection: its headers, at most. */
const WAITING_BYTES = 16 * 1024;
const CHECK_MS = 1000;

interface Open {
  readonly response: ServerResponse;
  /** Of its answer, once there is one. */
  bytes: number;
}

interface Connection {
  readonly socket: Socket;
  /** In the order of the requests: the client takes the first one. */
  open: Open[];
  bytes: number;
  /** Bytes that the socket had taken when it was last looked at. */
  taken: number;
  /** Since when the client takes nothing that waits for it; undefined: nothing does. */
  since: number | undefined;
}

/**
 * Bounds what waits for clients that do not read: how many requests of a connection are open, how long a client may take
 * nothing, and the bytes of all answers, beyond which those are cut who have taken nothing for the longest time.
 */
export function boundAnswers(app: FastifyInstance, limits: AnswerLimits): void {
  const { takenWithinMs = TAKEN_WITHIN_MS } = limits;
  const connections = new Map<Socket, Connection>();
  const { count, cut, cutLate } = createCuts(connections, { ...limits, takenWithinMs });
  const timer = setInterval(cutLate, Math.min(CHECK_MS, takenWithinMs)).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.server.on('connection', (socket: Socket) => {
    const connection = { socket, open: [], bytes: 0, taken: 0, since: undefined };
    connections.set(socket, connection);
    socket.once('close', () => {
      cut(connection);
      connections.delete(socket);
    });
  });
  app.server.prependListener('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    const one = { response, bytes: 0 };
    if (connection.open.push(one) > 1) count(connection, one, WAITING_BYTES);
    // A response closes once, so `on` needs no removal as `once` does.
    response.on('close', () => {
      count(connection, one, 0);
      connection.open = connection.open.filter((other) => other !== one);
    });
    if (connection.open.length > MAX_OPEN) cut(connection);
  });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    // What else its client sent at once has been parsed, but nobody would take its answer.
    if (raw.socket.destroyed !== true) done();
  });
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    const connection = connections.get(raw.socket);
    const one = connection?.open.find(({ response }) => response === reply.raw);
    if (connection === undefined || one === undefined) return done();
    if (payload instanceof GrowingAnswer) {
      const before = one.bytes;
      payload.onGrowth((bytes) => count(connection, one, before + bytes));
      return done();
    }
    const bytes = lengthOf(payload);
    count(connection, one, one.bytes + (typeof payload === 'string' ? bytes : Math.min(bytes, SHARED_BYTES)));
    if (bytes <= PIECE_BYTES || !isWhole(payload)) return done();
    reply.header('content-length', bytes);
    done(null, inPieces(typeof payload === 'string' ? Buffer.from(payload) : payload));
  });
}

/** Counts bytes, and cuts connections: their responses are closed by that. */
function createCuts(
  connections: ReadonlyMap<Socket, Connection>,
  { takenWithinMs, maxUntakenBytes = MAX_UNTAKEN_BYTES }: AnswerLimits & { takenWithinMs: number },
) {
  let untaken = 0;
  const add = (connection: Connection, bytes: number) => {
    connection.bytes += bytes;
    untaken += bytes;
  };
  const cut = (connection: Connection) => {
    connection.socket.destroy();
    connection.open = [];
    add(connection, -connection.bytes);
  };
  const cutLongest = () => {
    const now = performance.now();
    const holding = [...connections.values()].filter(({ bytes }) => bytes > 0);
    for (const one of holding) look(one, now);
    holding.sort((a, b) => waitedSince(a, now) - waitedSince(b, now));
    for (const one of holding) if (untaken > maxUntakenBytes) cut(one);
  };
  return {
    cut,
    /** Notes how many bytes an open request's answer has. */
    count: (connection: Connection, one: Open, bytes: number) => {
      if (!connection.open.includes(one)) return;
      add(connection, bytes - one.bytes);
      one.bytes = bytes;
      if (untaken > maxUntakenBytes) cutLongest();
    },
    /** Cuts who has taken nothing for too long. */
    cutLate: () => {
      const now = performance.now();
      for (const one of connections.values()) {
        look(one, now);
        if (one.since !== undefined && now - one.since >= takenWithinMs) cut(one);
      }
    },
  };
}

/** Notes whether the client has taken anything since the last look, if something waits for it. */
function look(connection: Connection, now: number): void {
  const { socket, open } = connection;
  const first = open[0]?.response;
  const isWaiting = first !== undefined && (first.writableEnded || first.writableNeedDrain);
  const taken = socket.bytesWritten - socket.writableLength;
  if (!isWaiting) connection.since = undefined;
  else if (connection.since === undefined || taken !== connection.taken) connection.since = now;
  connection.taken = taken;
}

/** Who has answers kept behind another request that is still open has chosen that, and comes before all who read. */
function waitedSince({ open: [first], bytes, since }: Connection, now: number): number {
  const isBehind = bytes - (first?.bytes ?? 0) > 4 * PIECE_BYTES;
  return isBehind ? Number.NEGATIVE_INFINITY : (since ?? now);
}

const isWhole = (payload: unknown): payload is string | Buffer =>
  typeof payload === 'string' || Buffer.isBuffer(payload);

function lengthOf(payload: unknown): number {
  if (payload === null || payload === undefined) return 0;
  return isWhole(payload) ? Buffer.byteLength(payload) : SHARED_BYTES;
}

function inPieces(bytes: Buffer): Readable {
  let at = 0;
  return new Readable({
    read() {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      at += piece.length;
      this.push(piece.length === 0 ? null : piece);
    },
  });
}
