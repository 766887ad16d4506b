import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '@orrery/service-kit';
import type { RunningCalls } from '../in-flight/in-flight.js';
import type { Answer, Frame } from '../ports/transport.js';
import type { Connection } from './connection.js';
import { toMessageHeaders } from './headers.js';
import { type Arrival, addressIn, packsOf } from './inbox.js';
import {
  createPacker,
  isPack,
  PACKED_AT_MOST,
  type Packed,
  type Packer,
  readPack,
  writePack,
} from './packs.js';
import type { Parts } from './parts.js';

/** How long the parts of a large request may take, in milliseconds each. */
const PART_TIMEOUT_MS = 10_000;

/** The answering end: the answers of one turn of the event loop to one process travel in one pack. */
export function createAnswers(connection: Connection, parts: Parts, running: RunningCalls, logger: Logger) {
  const { nats } = connection;
  const packer = createAnswerPacker(connection, logger);

  const sendAlone = async (id: string, frame: Frame) => {
    using outgoing = parts.pack(frame);
    nats.publish(id, outgoing.data, outgoing.headers && { headers: outgoing.headers });
    await outgoing.taken;
  };
  /** `id`: the reply subject, by which the caller also cancels. */
  const answerOne = async (id: string, arrival: Arrival, answer: Answer) => {
    const call = running.start(id);
    try {
      const request = await parts.unpack(arrival, PART_TIMEOUT_MS, call.signal);
      const reply = await answer(request, call);
      const { headers, body } = reply;
      if (body.length > PACKED_AT_MOST) await sendAlone(id, reply);
      else packer.add(packsOf(id), { id, headers, body }, body.length);
    } catch (error) {
      logger.warn({ err: error, id }, 'a request could not be answered');
    } finally {
      running.end(id);
    }
  };
  return {
    flush: packer.flush,
    /** Answers a message, or each request in it. */
    answer: (message: Msg, answer: Answer): void => {
      const { reply } = message;
      // Orrery sends no request without a reply subject.
      if (!reply) return;
      if (!isPack(message)) return void answerOne(reply, message, answer);
      for (const packed of readPack(message.string()))
        void answerOne(addressIn(reply, packed.id), packed, answer);
    },
  };
}

function createAnswerPacker({ nats }: Connection, logger: Logger): Packer<Packed> {
  const alone = ({ id, headers, body }: Packed) =>
    nats.publish(id, Buffer.from(body), { headers: toMessageHeaders(headers) });
  return createPacker((packs, answers) => {
    const [first, ...others] = answers;
    if (first === undefined) return;
    try {
      if (others.length === 0) alone(first);
      else nats.publish(packs, Buffer.from(writePack(answers)));
    } catch (error) {
      logger.warn({ err: error, answers: answers.length }, 'answers could not be sent');
    }
  });
}
