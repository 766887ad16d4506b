import type { z } from 'zod';

/** A fact on the bus, published after the commit that made it true. */
export interface Message<Payload extends z.ZodType = z.ZodType> {
  /** Service that publishes it. */
  service: string;
  name: string;
  subject: string;
  payload: Payload;
}

export const defineMessage = <Payload extends z.ZodType>(
  service: string,
  name: string,
  payload: Payload,
): Message<Payload> => ({ service, name, subject: `orrery.facts.${service}.${name}`, payload });

export type PayloadOf<M extends Message> = z.output<M['payload']>;
