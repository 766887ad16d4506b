export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
  readonly example?: unknown;
}

interface Media {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string }>>;
}

export interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
}

/** What the site reads of an operation of `openapi.json`. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly { readonly apiKey?: readonly string[] }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

/** An operation with its place. */
export interface PlacedOperation extends Operation {
  /** In lower case. */
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** With `{name}` parameters. */
  readonly path: string;
}

/** `openapi.json`, as far as the site reads it. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

export const operationsOf = ({ paths }: OpenApi): PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method as PlacedOperation['method'],
      path,
    })),
  );

export const bodyOf = ({ requestBody }: Operation): Media | undefined =>
  requestBody?.content['application/json'];

/** The path of the page of a group of operations: `Entity schemas` → `reference/entity-schemas`. */
export const resourcePath = (tag: string): string =>
  `reference/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;

/** What a path names, and queries and headers: what an example gives a value. */
export const givenIn = ({ parameters = [] }: Operation, place: Parameter['in']): Parameter[] =>
  parameters.filter((one) => one.in === place && one.example !== undefined);

/** Whether it takes a key. */
export const isKeyed = ({ security }: Operation): boolean => security.length > 0;

export const isStream = ({ responses }: Operation): boolean =>
  responses['200']?.content?.['text/event-stream'] !== undefined;
