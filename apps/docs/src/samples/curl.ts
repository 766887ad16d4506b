import { isKeyed, isStream, type PlacedOperation } from '../openapi/document.js';
import { jsonText } from './javascript.js';
import { shownCall } from './shown-call.js';

/** The call as a command of curl; the address of the server and the key are variables. */
export function curlSample(operation: PlacedOperation): string {
  const { method, path } = operation;
  const { params, query, headers, body } = shownCall(operation);
  const filled = params.reduce(
    (all, { name, value, variable }) =>
      all.replace(`{${name}}`, variable === undefined ? encodeURIComponent(value) : `$${variable}`),
    path,
  );
  const asked = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const search = asked.length === 0 ? '' : `?${asked.join('&')}`;
  const verb = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  const lines = [
    `curl -sS${isStream(operation) ? 'N' : ''}${verb} "$ORRERY_URL${filled}${search}"`,
    ...(isKeyed(operation) ? ['-H "Authorization: Bearer $ORRERY_KEY"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H '${titled(name)}: ${value}'`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

const quoted = (body: unknown): string => `'${jsonText(body, 8).replaceAll("'", "'\\''")}'`;

const titled = (name: string): string => name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
