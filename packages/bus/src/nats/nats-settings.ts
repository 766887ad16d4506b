import { wholeNumber } from '@orrery/service-kit';
import { z } from 'zod';
import type { StreamLimits } from './stream.js';
import { DEFAULT_PREFIX } from './subjects.js';

const MIB = 1024 * 1024;
const HOUR_MS = 60 * 60 * 1000;

/** What every process on NATS reads, and all of an installation have alike. */
export const natsEnvironment = {
  NATS_SUBJECT_PREFIX: z
    .string()
    .max(64)
    .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/)
    .default(DEFAULT_PREFIX)
    .describe('what the subjects begin with: letters, digits, - and _, separated by dots'),
  NATS_REPLICAS: wholeNumber({
    min: 1,
    max: 5,
    what: 'servers that hold a copy of the stream, 1 to 5',
  }).default(1),
  NATS_MAX_MIB: wholeNumber({
    min: 16,
    max: 1_048_576,
    what: 'MiB that the stream may take, 16 to 1048576',
  }).default(1024),
  NATS_MAX_AGE_H: wholeNumber({
    min: 1,
    max: 8760,
    what: 'hours that the stream keeps messages, 1 to 8760',
  }).default(168),
};

type NatsEnvironment = z.output<z.ZodObject<typeof natsEnvironment>>;

/** Those members of `ConnectBusOptions` that operators set. */
export const natsSettings = (
  read: NatsEnvironment,
): { readonly subjectPrefix: string; readonly stream: StreamLimits } => ({
  subjectPrefix: read.NATS_SUBJECT_PREFIX,
  stream: {
    replicas: read.NATS_REPLICAS,
    maxBytes: read.NATS_MAX_MIB * MIB,
    maxAgeMs: read.NATS_MAX_AGE_H * HOUR_MS,
  },
});
