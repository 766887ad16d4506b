import { bodyOf, givenIn, type PlacedOperation } from '../openapi/document.js';

/** The values of an example that stand in every call: the samples name them by variables. */
export const VARIABLES: Readonly<Record<string, string>> = {
  idOrAddress: 'WORLD',
  worldAddress: 'WORLD',
  address: 'DEPLOYMENT',
};

/** An operation's example, in its parts. Headers are in lower case. */
export interface ShownCall {
  /** With the name of a variable in place of an address. */
  readonly params: readonly { readonly name: string; readonly value: string; readonly variable?: string }[];
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function shownCall(operation: PlacedOperation): ShownCall {
  const texts = (place: 'query' | 'header') =>
    Object.fromEntries(
      givenIn(operation, place).map(({ name, example }) => [
        place === 'header' ? name.toLowerCase() : name,
        String(example),
      ]),
    );
  return {
    params: givenIn(operation, 'path').map(({ name, example }) => {
      const variable = VARIABLES[name];
      return { name, value: String(example), ...(variable !== undefined && { variable }) };
    }),
    query: texts('query'),
    headers: texts('header'),
    body: bodyOf(operation)?.example,
  };
}
