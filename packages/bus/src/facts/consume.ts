import type { Message } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import type { ConsumeOptions } from '../port.js';
import type { FactLog } from '../transport.js';
import { createHandling } from './handle-delivery.js';
import { createLanes } from './lanes.js';

const MAX_IN_FLIGHT = 64;

export const createConsume =
  (facts: FactLog, clock: Clock, logger: Logger) =>
  async <M extends Message>(message: M, options: ConsumeOptions<M>): Promise<void> => {
    if (options.signal.aborted) return;
    await facts.read(message.subject, {
      consumer: options.consumer,
      maxInFlight: options.maxInFlight ?? MAX_IN_FLIGHT,
      receive: createLanes(createHandling(message, options, logger), clock),
      signal: options.signal,
    });
  };
