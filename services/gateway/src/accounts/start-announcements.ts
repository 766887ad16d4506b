import type { Bus } from '@orrery/bus';
import { type AccountState, accountChanged } from '@orrery/contracts';
import { type Database, type OutboxMessage, startRelay } from '@orrery/database';
import type { Clock, Logger, Resources } from '@orrery/service-kit';
import type { GatewaySchema } from '../database/schema.js';

export interface AnnouncementsContext {
  database: Database<GatewaySchema>;
  bus: Pick<Bus, 'publishAll'>;
  clock: Clock;
  logger: Logger;
  resources: Resources;
}

// Only account states are ever put into this outbox; the bus checks them against the contract.
const publicationOf = ({ payload, messageId: id, orderingKey }: OutboxMessage) => ({
  payload: payload as unknown as AccountState,
  id,
  orderingKey,
});

/** Publishes the account changes in the outbox, including those written by the operator's commands. */
export function startAnnouncements({ database, bus, clock, logger, resources }: AnnouncementsContext): void {
  const relay = startRelay({
    database,
    clock,
    logger,
    publish: (messages) => bus.publishAll(accountChanged, messages.map(publicationOf)),
  });
  resources.add('account announcements', () => relay.stop());
}
