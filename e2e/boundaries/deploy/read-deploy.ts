import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT, variablesRead } from '../variables-read.js';

export const SERVICES = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'];

export const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What the parser gives: tests walk through these files freely. */
export type Yaml = ReturnType<typeof parse>;

export const yamlOf = (file: string): Yaml => parse(textOf(file), { merge: true, strict: true });

export const documentsOf = (file: string): Yaml[] =>
  parseAllDocuments(textOf(file)).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });

/** What the SDK of OpenTelemetry reads by itself. */
const OF_THE_SDK = ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'];

/** The variables that a service reads, with those that every process does. */
export const variablesOf = (service: string): string[] => [
  ...variablesRead([`services/${service}`, 'packages/service-kit', 'packages/service-host', 'packages/bus']),
  ...OF_THE_SDK,
];
