import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly example?: unknown;
}

/** An operation of `openapi.json` with the example of a request that the document gives. */
export interface DocumentedExample {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Whether it needs an API key. */
  readonly isKeyed: boolean;
  readonly body: unknown;
}

/** The examples by operation id. */
export function documentedExamples(): ReadonlyMap<string, DocumentedExample> {
  const { paths } = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
  const examples = new Map<string, DocumentedExample>();
  for (const [path, methods] of Object.entries<object>(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId, parameters = [], security, requestBody } = operation;
      const body = requestBody?.content['application/json'].example;
      const isKeyed = security.length > 0;
      examples.set(operationId, { method: method.toUpperCase(), path, parameters, isKeyed, body });
    }
  return examples;
}

/**
 * The request of an example as it is sent: `known` has what the server gave for what the document shows, and
 * `signed` the members of the body that a wallet makes anew.
 */
export function requestOf(
  { path, parameters, body }: DocumentedExample,
  known: ReadonlyMap<string, string>,
  signed: object = {},
) {
  const here = (text: string) => [...known].reduce((all, [shown, real]) => all.replaceAll(shown, real), text);
  const given = parameters
    .filter(({ example }) => example !== undefined)
    .map((parameter) => ({ ...parameter, value: here(String(parameter.example)) }));
  const inPath = given.filter((one) => one.in === 'path');
  const query = new URLSearchParams();
  for (const { name, value } of given.filter((one) => one.in === 'query')) query.set(name, value);
  const filled = inPath.reduce(
    (all, { name, value }) => all.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  return {
    path: query.size === 0 ? filled : `${filled}?${query}`,
    headers: Object.fromEntries(
      given.filter((one) => one.in === 'header').map(({ name, value }) => [name, value]),
    ),
    body: body === undefined ? undefined : bodyText(JSON.parse(here(JSON.stringify(body))), signed),
  };
}

const bodyText = (body: object, signed: object): string =>
  JSON.stringify(Array.isArray(body) ? body : { ...body, ...signed });

/** The example that the document shows for a parameter of a path. */
export function exampleOf({ parameters }: DocumentedExample, name: string): string {
  return String(parameters.find((one) => one.name === name)?.example);
}
