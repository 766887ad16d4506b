import type { JsonSchema } from './schema-book.js';

/** A schema of the document with the place where it stands. */
type Placed = readonly [place: string, schema: JsonSchema & { description?: string }];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const entriesOf = (value: unknown): [string, JsonSchema][] =>
  isObject(value) ? (Object.entries(value) as [string, JsonSchema][]) : [];

/** Members named `properties` are those of schemas: no schema of ours has a property of that name. */
export function propertiesIn(node: unknown, place = '#'): Placed[] {
  if (Array.isArray(node)) return node.flatMap((item, at) => propertiesIn(item, `${place}/${at}`));
  return entriesOf(node)
    .filter(([key]) => key !== 'example' && key !== 'examples')
    .flatMap(([key, child]) => {
      const own = key === 'properties' ? entriesOf(child) : [];
      return [
        ...own.map(([name, schema]): Placed => [`${place}/${name}`, schema]),
        ...propertiesIn(child, `${place}/${key}`),
      ];
    });
}

interface Content {
  schema: JsonSchema;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
interface Described {
  operationId: string;
  responses: Record<string, { content?: Record<string, Content> }>;
  parameters?: { name: string; description?: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}
interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, JsonSchema>; examples: Record<string, { value: unknown }> };
}

const operationsIn = ({ paths }: Document): Described[] => Object.values(paths).flatMap(Object.values);

export const parametersIn = (document: Document): Placed[] =>
  operationsIn(document).flatMap(({ operationId, parameters = [] }) =>
    parameters.map((parameter): Placed => [`${operationId} ${parameter.name}`, { ...parameter }]),
  );

/** Each success response in each of its types: the place of its schema in the document, and its examples. */
export function answersIn({ paths, components }: Document) {
  const escaped = (text: string) => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
  const examplesOf = ({ example, examples = {} }: Content) => [
    ...(example === undefined ? [] : [example]),
    ...Object.values(examples).map(({ $ref }) => components.examples[$ref.split('/').at(-1) ?? '']?.value),
  ];
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, responses }]) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([status, { content = {} }]) =>
          Object.entries(content).map(([type, one]) => {
            const steps = ['paths', path, method, 'responses', status, 'content', type, 'schema'];
            const schema = `#/${steps.map(escaped).join('/')}`;
            return [`${operationId} ${status}`, { schema, examples: examplesOf(one) }] as const;
          }),
        ),
    ),
  );
}

export const componentsIn = ({ components }: Document): Placed[] => Object.entries(components.schemas);

/** Every schema that a parameter or a body may hold a value of, each component once. */
export function sentSchemas(document: Document): Placed[] {
  const seen = new Set<string>();
  const within = (place: string, schema: JsonSchema): Placed[] => {
    const component = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];
    if (component !== undefined) {
      if (seen.has(component)) return [];
      seen.add(component);
      return within(component, document.components.schemas[component] ?? {});
    }
    const parts = [schema['items'], schema['additionalProperties']].filter(isObject);
    const choices = [schema['anyOf'], schema['allOf']].flatMap((list) => (Array.isArray(list) ? list : []));
    return [
      [place, schema],
      ...[...parts, ...choices].flatMap((part) => within(place, part)),
      ...entriesOf(schema['properties']).flatMap(([name, member]) => within(`${place}/${name}`, member)),
    ];
  };
  return operationsIn(document).flatMap(({ operationId, parameters = [], requestBody }) => [
    ...parameters.flatMap(({ name, schema }) => within(`${operationId} ${name}`, schema)),
    ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => within(operationId, schema)),
  ]);
}

const BOUNDS: Readonly<Record<string, string>> = {
  string: 'maxLength',
  integer: 'maximum',
  array: 'maxItems',
};

/** Values of a list, a format or a pattern are bounded by it; a least whole number is enough. */
export function isBounded(schema: JsonSchema): boolean {
  const bound = BOUNDS[String(schema['type'])];
  const others = ['enum', 'const', 'format', 'pattern', 'minimum'];
  return bound === undefined || [bound, ...others].some((keyword) => keyword in schema);
}
