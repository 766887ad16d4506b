import type { JsonSchema } from './json-schema.js';

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
    .filter(([key]) => key !== 'example')
    .flatMap(([key, child]) => {
      const own = key === 'properties' ? entriesOf(child) : [];
      return [
        ...own.map(([name, schema]): Placed => [`${place}/${name}`, schema]),
        ...propertiesIn(child, `${place}/${key}`),
      ];
    });
}

interface Described {
  operationId: string;
  parameters?: { name: string; description?: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}
interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, JsonSchema> };
}

const operationsIn = ({ paths }: Document): Described[] => Object.values(paths).flatMap(Object.values);

export const parametersIn = (document: Document): Placed[] =>
  operationsIn(document).flatMap(({ operationId, parameters = [] }) =>
    parameters.map((parameter): Placed => [`${operationId} ${parameter.name}`, { ...parameter }]),
  );

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
