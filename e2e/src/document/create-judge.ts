import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Exchange, repositoryRoot } from '@orrery/testing/system';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { operationOf, pathOf } from './read-recording.js';

/** In what an exchange breaks the document. What was refused may have broken it in its request. */
export type Judge = (exchange: Exchange) => string[];

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required?: boolean;
    readonly schema: object;
  }[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Content>> };
}

/** Judges by the committed `openapi.json` alone. A format counts by the pattern that stands beside it. */
export function createJudge(): Judge {
  const { paths, components }: Document = JSON.parse(
    readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'),
  );
  const options = { strict: false, validateFormats: false };
  const bodies = new Ajv2020(options);
  // What stands in a path, a query or a header is a text.
  const texts = new Ajv2020({ ...options, coerceTypes: true });
  const compiled = new Map<object, ValidateFunction>();
  const broken = (ajv: Ajv2020, schema: object, value: unknown): string[] => {
    const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, validate);
    return validate(value) ? [] : [ajv.errorsText(validate.errors)];
  };
  const brokenBody = ({ content }: Content, headers: Exchange['headers'], body: string): string[] => {
    const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    const schema = content?.[type]?.schema;
    if (schema !== undefined) return broken(bodies, schema, JSON.parse(body));
    return content === undefined && body === '' ? [] : [`the content type "${type}" is not documented`];
  };
  const brokenRequest = (exchange: Exchange, path: string, operation: Operation): string[] => {
    const { url, headers, body } = exchange;
    const given: Readonly<Record<string, object>> = {
      path:
        new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(pathOf(exchange))?.groups ?? {},
      query: Object.fromEntries(new URL(url, 'http://host').searchParams),
      header: headers,
    };
    const parameters = (operation.parameters ?? []).flatMap((parameter) => {
      const name = parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name;
      const value: unknown = Reflect.get(given[parameter.in] ?? {}, name);
      if (value === undefined) return parameter.required ? [`${parameter.in} ${name} is missing`] : [];
      return broken(texts, wrapped(parameter.schema), { value });
    });
    const { requestBody } = operation;
    const hasBody = requestBody !== undefined && (requestBody.required === true || body !== '');
    return [...parameters, ...(hasBody ? brokenBody(requestBody, headers, body) : [])];
  };
  return (exchange) => {
    const { http } = operationOf(exchange) ?? {};
    const path = http?.path.replaceAll(/:(\w+)/g, '{$1}') ?? '';
    const operation = paths[path]?.[exchange.method.toLowerCase()];
    if (operation === undefined) return ['the document has no such operation'];
    const { status, headers, body } = exchange.answer;
    const documented = operation.responses[status];
    if (documented === undefined) return [`the status code ${status} is not documented`];
    const response = components.responses[documented.$ref?.split('/').at(-1) ?? ''] ?? documented;
    const request = status < 400 ? brokenRequest(exchange, path, operation) : [];
    return [
      ...request.map((what) => `request: ${what}`),
      ...brokenBody(response, headers, body).map((what) => `response: ${what}`),
    ];
  };
}

/** Ajv coerces members alone. Made once for each schema, which is compiled once. */
const wrappers = new WeakMap<object, object>();
function wrapped(schema: object): object {
  const made = wrappers.get(schema) ?? { type: 'object', properties: { value: schema } };
  wrappers.set(schema, made);
  return made;
}
