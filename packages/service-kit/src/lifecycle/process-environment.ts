import { z } from 'zod';
import { type Environment, readEnvironment } from '../environment/read-environment.js';
import { httpUrl, port } from '../environment/variables.js';
import { logEnvironment } from '../logging/log-environment.js';

const processEnvironment = z.object({
  ...logEnvironment,
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
