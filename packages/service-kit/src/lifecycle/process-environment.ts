import { z } from 'zod';
import { type Environment, readEnvironment } from '../environment/read-environment.js';
import { httpUrl, port } from '../environment/variables.js';

const processEnvironment = z.object({
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('trace, debug, info, warn, error, fatal or silent'),
  LOG_FORMAT: z.enum(['json', 'text']).default('json').describe('json or text'),
  HEALTH_HOST: z.string().default('127.0.0.1').describe('the address that health and metrics listen on'),
  HEALTH_PORT: port.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_TRACES_SAMPLER: z.string().optional().describe('a sampler of OpenTelemetry'),
  OTEL_TRACES_SAMPLER_ARG: z.string().optional().describe('what the sampler takes'),
});

export type ProcessEnvironment = z.output<typeof processEnvironment>;

/** The variables that every process understands, whatever service runs in it. */
export const readProcessEnvironment = (env: Environment): ProcessEnvironment =>
  readEnvironment(processEnvironment, env);
