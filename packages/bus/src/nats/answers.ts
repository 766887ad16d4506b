import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '@orrery/service-kit';
import type { RunningCalls } from '../calls/running-calls.js';
import type { Answer, Frame } from '../transport.js';
import type { Connection } from './connection.js';
import { type Arrival, addressIn, packsOf } from './inbox.js';
import { toMessageHeaders } from './message-headers.js';
import { isPack, PACKED_AT_MOST, type Packed, readPack, writePack } from './pack-text.js';
import { createPacker, type Packer } from './packer.js';
import type { Parts } from './parts.js';

export interface Answers {
  /** Answers a message, or each request in it. */
  answer(message: Msg, answer: Answer): void;
  readonly flush: () => void;
}

/** How long the parts of a large request may take, in milliseconds each. */
const PART_TIMEOUT_MS = 10_000;

/** The answering half: what one turn of the event loop answers to one process travels together. */
export function createAnswers(
  connection: Connection,
  parts: Parts,
  running: RunningCalls,
  logger: Logger,
): Answers {
  const { nats } = connection;
  const packer = createAnswerPacker(connection, logger);

  const sendAlone = async (id: string, frame: Frame) => {
    using parcel = parts.pack(frame);
    nats.publish(id, parcel.data, parcel.headers && { headers: parcel.headers });
    await parcel.taken;
  };
  /** `id`: the reply subject, by which the caller would also cancel. */
  const answerOne = async (id: string, arrival: Arrival, answer: Answer) => {
    const call = running.start(id);
    try {
      const request = await parts.unpack(arrival, PART_TIMEOUT_MS, call);
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
    answer: (message, answer) => {
      const { reply } = message;
      // Nobody of ours asks without a place for the answer.
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
