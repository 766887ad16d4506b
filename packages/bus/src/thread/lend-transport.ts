import type { MessagePort } from 'node:worker_threads';
import { ServiceError, toErrorReply } from '@orrery/contracts';
import { type Answers, createLink, type Link, type Logger } from '@orrery/service-kit';
import { ERROR_HEADER } from '../calls/call-headers.js';
import { isLate } from '../calls/late.js';
import type { Answer, FactDelivery, Frame, Transport } from '../transport.js';
import { carryFrame, readFrame } from './carried-frame.js';
import type { FactEnd, GuestQuestions, HostQuestions } from './questions.js';

type Guest = Link<GuestQuestions>;

/** Lets a service in another thread use a transport of this one, which closes when the other leaves or is gone. */
export function lendTransport(transport: Transport, port: MessagePort, logger: Logger): void {
  const begun = new Map<number, AbortController>();
  const begin = (id: number): AbortSignal => {
    const controller = new AbortController();
    begun.set(id, controller);
    return controller.signal;
  };
  const { exchange, facts } = transport;
  const answers: Answers<HostQuestions> = {
    request: ([subject, group, timeoutMs, frame], signal) =>
      exchange.request(subject, readFrame(frame), { group, timeoutMs, signal }).then(carryFrame),
    respond: ({ group, subjects }) =>
      exchange.respond(group, new Map(subjects.map((subject) => [subject, answerBy(guest, subject)]))),
    broadcast: ({ subject, frame }) => exchange.broadcast(subject, readFrame(frame)),
    listen: ({ id, subject }) =>
      exchange.listen(
        subject,
        (frame) => tell(guest.ask('hear', { id, frame: carryFrame(frame) })),
        begin(id),
      ),
    append: async ({ subject, facts: given }) =>
      (await facts.append(subject, given)).map((error) => error && toErrorReply(error)),
    read: ({ id, subject, ...options }) =>
      facts.read(subject, { ...options, signal: begin(id), receive: (one) => carry(guest, id, one) }),
    end: ({ id }) => {
      begun.get(id)?.abort();
      begun.delete(id);
    },
    leave: () => transport.close(),
  };
  const guest: Guest = createLink<HostQuestions, GuestQuestions>({ port, answers, logger });
  port.once('close', () => {
    for (const controller of begun.values()) controller.abort();
    void transport.close();
  });
}

/** That nobody hears it any more is no failure of a broadcast. */
const tell = (heard: Promise<void>): void => void heard.catch(() => undefined);

/** Has the other thread answer. */
const answerBy =
  (guest: Guest, subject: string): Answer =>
  (frame, call) =>
    new Promise<Frame>((resolve) => {
      const giveUp = guest.begin(
        'answer',
        { subject, frame: carryFrame(frame) },
        {
          resolve: (reply) => resolve(readFrame(reply)),
          reject: (error) => resolve(errorFrame(error)),
        },
      );
      call.addEventListener('abort', () => {
        // The other thread keeps the deadline by itself.
        if (!(call.reason instanceof ServiceError && isLate(call.reason))) giveUp();
      });
    });

const errorFrame = (error: ServiceError): Frame => ({
  headers: { [ERROR_HEADER]: error.code },
  body: JSON.stringify(toErrorReply(error)),
});

/** A reader that is gone has not handled it. */
const UNHANDLED: FactEnd = { delayMs: 0, counts: false };

async function carry(guest: Guest, id: number, delivery: FactDelivery): Promise<void> {
  const { done, sendBack, ...fact } = delivery;
  const end = await guest.ask('handle', { id, fact }).catch(() => UNHANDLED);
  if ('done' in end) done();
  else sendBack(end.delayMs, end.counts);
}
