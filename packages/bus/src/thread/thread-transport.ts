import type { MessagePort } from 'node:worker_threads';
import { asServiceError, fromErrorReply } from '@orrery/contracts';
import { createLink, type Link, type Logger } from '@orrery/service-kit';
import { awaitAnswer } from '../calls/await-answer.js';
import { isLate } from '../calls/late.js';
import { createRunningCalls } from '../calls/running-calls.js';
import { CLOSE_GRACE_MS, LAST_WORDS_MS, within } from '../closing.js';
import type { Exchange, FactLog, Frame, ReadOptions, Transport } from '../transport.js';
import { createAnswering } from './answering.js';
import { type Begun, createBegun } from './begun.js';
import { carryFrame, readFrame } from './carried-frame.js';
import { handleFact } from './handle-fact.js';
import type { GuestQuestions, HostQuestions } from './questions.js';

type Host = Link<HostQuestions>;

/** The transport of another thread, through the port at whose other end `lendTransport` serves it. */
export function joinThread(port: MessagePort, logger: Logger): Transport {
  let last = 0;
  const nextId = () => ++last;
  const end = (id: number) => void host.ask('end', { id }).catch(() => undefined);
  const listeners = createBegun<(frame: Frame) => void>(nextId, end);
  const readers = createBegun<ReadOptions['receive']>(nextId, end);
  const running = createRunningCalls();
  const answering = createAnswering(running);
  const host: Host = createLink<GuestQuestions, HostQuestions>({
    port,
    logger,
    answers: {
      answer: answering.answer,
      hear: ({ id, frame }) => listeners.get(id)?.(readFrame(frame)),
      handle: ({ id, fact }) => handleFact(fact, readers.get(id)),
    },
  });
  return {
    exchange: createThreadExchange(host, answering.serve, listeners),
    facts: createThreadFacts(host, readers),
    health: () => (host.isOpen ? { ok: true } : { ok: false, detail: 'The thread of the bus is gone' }),
    close: async () => {
      await within(CLOSE_GRACE_MS, host.ask('leave', undefined));
      running.abortAll();
      await within(LAST_WORDS_MS, running.untilIdle());
      host.close();
    },
  };
}

function createThreadExchange(
  host: Host,
  serve: ReturnType<typeof createAnswering>['serve'],
  listeners: Begun<(frame: Frame) => void>,
): Exchange {
  return {
    request: (subject, frame, { group, timeoutMs, signal }) => {
      let giveUp: (() => void) | undefined;
      return awaitAnswer<Frame>(
        { timeoutMs, signal },
        (settle) => {
          giveUp = host.begin('request', [subject, group, timeoutMs, carryFrame(frame)], {
            resolve: (reply) => settle.resolve(readFrame(reply)),
            reject: settle.reject,
          });
        },
        // The host keeps the deadline by itself.
        (reason) => void (isLate(reason) || giveUp?.()),
      );
    },
    respond: (group, answers) => {
      serve(answers);
      return host.ask('respond', { group, subjects: [...answers.keys()] });
    },
    broadcast: (subject, frame) => host.ask('broadcast', { subject, frame: carryFrame(frame) }),
    listen: (subject, receive, signal) =>
      listeners.begin(receive, signal, (id) => host.ask('listen', { id, subject })),
  };
}

const createThreadFacts = (host: Host, readers: Begun<ReadOptions['receive']>): FactLog => ({
  append: async (subject, facts) => {
    try {
      const outcomes = await host.ask('append', { subject, facts });
      return outcomes.map((error) => error && fromErrorReply(error));
    } catch (error) {
      return facts.map(() => asServiceError(error));
    }
  },
  read: (subject, { consumer, maxInFlight, receive, signal }) =>
    readers.begin(receive, signal, (id) => host.ask('read', { id, subject, consumer, maxInFlight })),
});
