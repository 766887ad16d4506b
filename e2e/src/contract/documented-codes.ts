import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
import type { RoutedOperation } from './routed-operations.js';

interface Response {
  $ref?: string;
  content?: Record<string, { schema: { allOf?: { properties?: { code?: { enum: string[] } } }[] } }>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response> };
}

/** What the committed `openapi.json` says that an operation may answer. */
export type DocumentedCodes = (operation: RoutedOperation, status: number) => readonly string[] | undefined;

/** Reads the document once; gives the codes of a status, none for a success, `undefined` for a status it lacks. */
export function readDocumentedCodes(): DocumentedCodes {
  const document: Document = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
  return ({ http }, status) => {
    const path = http.path.replaceAll(/:(\w+)/g, '{$1}');
    const found = document.paths[path]?.[http.method.toLowerCase()]?.responses[status];
    if (found === undefined) return undefined;
    const shared = found.$ref?.split('/').at(-1);
    const response = shared === undefined ? found : document.components.responses[shared];
    const schema = response?.content?.['application/problem+json']?.schema;
    return schema?.allOf?.flatMap(({ properties }) => properties?.code?.enum ?? []) ?? [];
  };
}
