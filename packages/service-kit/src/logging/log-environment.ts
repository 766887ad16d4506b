import { z } from 'zod';

/** The variables of the logger, to be spread into a service's own environment schema. */
export const logEnvironment = {
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('trace, debug, info, warn, error, fatal or silent'),
  LOG_FORMAT: z.enum(['json', 'text']).default('json').describe('json or text'),
};
