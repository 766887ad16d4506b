import { z } from 'zod';

/** How the text of an option becomes a value: `json` is an object or a list, `value` any JSON. */
export type MemberKind = 'text' | 'number' | 'flag' | 'list' | 'json' | 'value';

/** One member of a request's query, headers or body. */
export interface Member {
  readonly name: string;
  readonly kind: MemberKind;
  readonly required: boolean;
  /** Null removes it. */
  readonly nullable: boolean;
  /** An object of any members. */
  readonly isOpen: boolean;
  readonly choices: readonly string[];
  readonly description: string;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** The members of an object, as a client sends them. A list has those of its elements, a union those of its first form. */
export function membersOf(schema: z.ZodType): Member[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const resolve = resolver(root['$defs'] as Readonly<Record<string, JsonSchema>> | undefined);
  const whole = resolve(root);
  const [form = whole] = ((whole['anyOf'] ?? []) as JsonSchema[]).map(resolve);
  const object = form['type'] === 'array' ? resolve(form['items'] as JsonSchema) : form;
  const required = new Set((object['required'] ?? []) as string[]);
  const properties = (object['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: required.has(name),
    ...describe(property, resolve),
  }));
}

type Resolve = (schema: JsonSchema) => JsonSchema;

const resolver =
  (definitions: Readonly<Record<string, JsonSchema>> = {}): Resolve =>
  (schema) => {
    const name = String(schema['$ref'] ?? '').replace('#/$defs/', '');
    const found = definitions[name];
    return found === undefined ? schema : { ...found, ...schema };
  };

function describe(property: JsonSchema, resolve: Resolve): Omit<Member, 'name' | 'required'> {
  const schema = resolve(property);
  const forms = ((schema['anyOf'] ?? [schema]) as JsonSchema[]).map(resolve);
  const types = new Set(forms.flatMap(({ type }) => (type ?? 'any') as string | string[]));
  const nullable = types.delete('null');
  const form = forms.find(({ type }) => type !== 'null') ?? schema;
  const items = form['items'] === undefined ? undefined : resolve(form['items'] as JsonSchema);
  const kind = kindOf(types, items);
  return {
    kind,
    nullable: nullable || types.has('any'),
    isOpen: kind === 'json' && form['type'] === 'object' && form['properties'] === undefined,
    choices: kind === 'flag' ? [] : choicesOf(form),
    description: String(schema['description'] ?? form['description'] ?? ''),
  };
}

function kindOf(types: ReadonlySet<string>, items: JsonSchema | undefined): MemberKind {
  // Queries take numbers and switches as texts, too.
  if (types.has('boolean')) return 'flag';
  if (types.has('integer') || types.has('number')) return 'number';
  if (types.has('string')) return 'text';
  if (types.has('array')) return items?.['type'] === 'string' ? 'list' : 'json';
  return types.has('object') ? 'json' : 'value';
}

function choicesOf(form: JsonSchema): readonly string[] {
  if (form['const'] !== undefined) return [String(form['const'])];
  return ((form['enum'] ?? []) as unknown[]).filter((one) => one !== null).map(String);
}
