import { httpOperations, type RoutedRpc } from '@orrery/contracts';

/** An operation that the contracts offer over HTTP. */
export type RoutedOperation = RoutedRpc;

/** Every operation of every contract that has an HTTP binding. */
export const routedOperations = httpOperations;

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
/** A fixed segment goes before a parameter, as in the router: `/history/verify` is no `/history/:historyId`. */
const known = routedOperations
  .map((operation) => ({ operation, pattern: patternOf(operation.http.path) }))
  .sort((a, b) => parametersOf(a.operation) - parametersOf(b.operation));

function parametersOf({ http }: RoutedOperation): number {
  return http.path.split(':').length;
}

/** The operation that a request addresses; `path` without its query. */
export const operationAt = (method: string, path: string): RoutedOperation | undefined =>
  known.find(({ operation, pattern }) => operation.http.method === method && pattern.test(path))?.operation;
